from annotation.queue.pages import render_markdown

WRITTEN = """# When to use PER

A *person* with **a name**.

| word | label |
|---|---|
| Ann | PER |

- [more](https://example.org/guide)
"""


def test_headings_tables_lists_and_links_become_html():
    html = render_markdown(WRITTEN)
    assert "<h3>When to use PER</h3>" in html
    assert "<em>person</em> with <strong>a name</strong>" in html
    assert "<td>Ann</td>" in html
    assert '<a href="https://example.org/guide" rel="noopener noreferrer">more</a>' in html


def test_nothing_that_runs_loads_or_styles_comes_through():
    hostile = (
        "<script>alert(1)</script> <img src=x onerror=alert(1)>\n\n"
        "[run](javascript:alert(1)) [data](data:text/html,x) ![see](https://example.org/x.png)\n\n"
        '<a href="https://example.org" onclick="alert(1)" style="color:red">x</a>\n'
    )
    html = render_markdown(hostile)
    for forbidden in ("<script", "<img", 'href="javascript', 'href="data', "<a "):
        assert forbidden not in html
    assert "&lt;script&gt;" in html
