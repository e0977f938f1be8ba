import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.methods.formulas import discover, discover_repeatedly, engines, power_law_baseline
from analysis.methods.formulas.engines import _from_program
from analysis.methods.formulas.expressions import Expression, parse, variables
from analysis.methods.formulas.published import published

RNG = np.random.default_rng(0)
N = RNG.integers(50, 10_000, size=150).astype(float)
SQRT = 0.0069 * np.sqrt(N)  # 0.69 sqrt(n) in percent


@pytest.mark.parametrize("engine", ["gplearn", "operon"])
def test_both_engines_recover_the_square_root_of_the_paper(engine):
    front = discover(N[:, None], SQRT, ["n"], engine=engine, seed=0, population=400, generations=10)
    best = front[-1]
    assert best.holdout_mse < 1e-6
    assert best.expression(np.array([[10_000.0]])) == pytest.approx([0.69], abs=0.003)


def test_the_front_gets_larger_and_better():
    front = discover(N[:, None], SQRT, ["n"], engine="operon", seed=1, generations=8)
    sizes = [formula.complexity for formula in front]
    errors = [formula.mse for formula in front]
    assert sizes == sorted(set(sizes))
    assert errors == sorted(errors, reverse=True)


def _equation_6(rng, size):
    n = rng.integers(500, 20_000, size=size).astype(float)
    rows = np.column_stack([n, rng.uniform(0.1, 1, size), rng.integers(2, 16, size).astype(float)])
    return rows, published(6)(rows)


@pytest.mark.parametrize("seed", [3, 4])
def test_equation_6_with_noise_is_found_to_within_twice_the_noise_on_new_rows(seed):
    rng = np.random.default_rng(seed)
    rows, clean = _equation_6(rng, 200)
    noise = 0.01 * clean.mean()
    y = clean + noise * rng.normal(size=200)
    front = discover(rows, y, ["n", "ami", "t"], engine="operon", seed=seed)
    new_rows, new_clean = _equation_6(rng, 500)
    errors = front[-1].expression(new_rows) - new_clean - noise * rng.normal(size=500)
    assert np.mean(errors**2) < 2 * noise**2
    assert np.var(new_clean) > 100 * noise**2


def test_a_formula_that_is_undefined_between_the_rows_is_left_out(monkeypatch):
    x = np.r_[np.linspace(0, 1, 50), np.linspace(2, 3, 50)]
    y = np.sqrt((x - 1.2) * (x - 1.8))

    def search(inputs, outputs, names, **budget):
        return [parse("sqrt(x*x - 3.0*x + 2.16)*100.0", names), parse("40.0 + x", names)]

    monkeypatch.setitem(engines.ENGINES, "planted", engines.Engine(search, 20, 1))
    (formula,) = discover(x[:, None], y, ["x"], engine="planted")
    assert "sqrt" not in str(formula.expression)


def test_without_any_usable_formula_the_constant_is_the_front(monkeypatch):
    def search(inputs, outputs, names, **budget):
        return [parse("log(-1.0 - n)", names)]

    monkeypatch.setitem(engines.ENGINES, "planted", engines.Engine(search, 20, 1))
    (formula,) = discover(N[:, None], SQRT, ["n"], engine="planted")
    assert formula.complexity == 1
    assert formula.expression(np.array([[1.0]]))[0] == pytest.approx(SQRT.mean(), abs=0.01)


def test_several_seeds_are_told_beside_the_baselines_and_their_range():
    found = discover_repeatedly(
        N[:, None], SQRT, ["n"], engine="operon", seeds=[0, 1], population=100, generations=5
    )
    assert found.front[-1].holdout_mse < found.constant.holdout_mse
    assert found.power_law.holdout_mse < 1e-6  # the data are a power of n
    assert found.ranges == {"n": (N.min(), N.max())}
    assert max(found.frequency.values()) <= 2


@pytest.fixture
def two_engines_in_one(monkeypatch):
    """Seed 0 finds a line through zero; seed 1 a root, and with three more nodes a better one."""
    found = {0: ["1.5*n"], 1: ["1.5*sqrt(n)", "1.5*sqrt(n) + 0.5"]}

    def search(inputs, outputs, names, *, seed, population, generations):
        return [parse(text, names) for text in found[seed]]

    monkeypatch.setitem(engines.ENGINES, "planted", engines.Engine(search, 20, 1))


def test_formulas_and_baselines_are_judged_on_the_rows_that_each_seed_held_out(two_engines_in_one):
    y = 2.0 + np.sqrt(N)
    found = discover_repeatedly(N[:, None], y, ["n"], engine="planted", seeds=[0, 1])
    constants, lines, roots = [], [], []
    for seed in (0, 1):
        order = np.random.default_rng(seed).permutation(150)
        held, kept = order[:15], order[15:]
        slope = (N[kept] @ y[kept]) / (N[kept] @ N[kept])
        root = (np.sqrt(N[kept]) @ y[kept]) / N[kept].sum()
        constants.append(np.mean((y[held] - y[kept].mean()) ** 2))
        lines.append(np.mean((y[held] - slope * N[held]) ** 2))
        roots.append(np.mean((y[held] - root * np.sqrt(N[held])) ** 2))
    assert found.constant.holdout_mse == pytest.approx(np.mean(constants))
    small, larger, largest = found.front
    assert [f.complexity for f in found.front] == [3, 5, 7]
    assert small.holdout_mse == pytest.approx((lines[0] + constants[1]) / 2, rel=1e-4)
    assert larger.holdout_mse == pytest.approx((lines[0] + roots[1]) / 2, rel=1e-4)
    assert largest.holdout_mse == pytest.approx(lines[0] / 2, rel=1e-4)


def test_formulas_and_baselines_of_several_seeds_are_fitted_to_all_rows(two_engines_in_one):
    y = 2.0 + np.sqrt(N)
    found = discover_repeatedly(N[:, None], y, ["n"], engine="planted", seeds=[0, 1])
    slope = (N @ y) / (N @ N)
    assert found.front[0].expression(np.array([[1.0]])) == pytest.approx([slope], rel=1e-4)
    assert found.front[0].mse == pytest.approx(np.mean((y - slope * N) ** 2), rel=1e-4)
    assert found.constant.expression(np.array([[1.0]])) == pytest.approx([y.mean()])
    assert found.constant.mse == pytest.approx(y.var())


def test_constants_are_refitted_by_least_squares():
    expression = parse("0.5*sqrt(n) + 1.0", ["n"])
    fitted = expression.refitted(N[:, None], 0.69 * np.sqrt(N) + 3)
    assert fitted(np.array([[4.0]])) == pytest.approx([0.69 * 2 + 3])


def test_protected_operators_are_written_out():
    from gplearn.functions import _function_map

    program = [_function_map["sqrt"], _function_map["sub"], 0, 3.0]
    expression = Expression(_from_program(program, variables(["n"])), ("n",))
    assert str(expression) == "sqrt(Abs(n - 3.0))"
    assert expression(np.array([[2.0]])) == pytest.approx([1.0])


@pytest.mark.parametrize("engine", ["gplearn", "operon"])
def test_what_never_changes_is_a_constant(engine):
    (formula,) = discover(N[:, None], np.full(150, 0.5), ["n"], engine=engine, seed=0)
    assert (formula.complexity, formula.mse, formula.holdout_mse) == (1, 0.0, 0.0)
    assert str(formula.expression) == "0.5000"


def test_inputs_below_zero_keep_their_sign():
    x = np.linspace(-1, 1, 200)
    size = np.sqrt(np.abs(x))
    front = discover(x[:, None], size, ["x"], seed=0, population=300, generations=8)
    assert front[-1].holdout_mse < 1e-6
    assert front[-1].expression(np.array([[-0.25], [0.25]])) == pytest.approx([0.5, 0.5], abs=1e-3)


def test_a_power_law_is_recovered_as_a_baseline():
    fitted = power_law_baseline(N[:, None], 0.2 * N**0.3, ["n"])
    assert fitted(np.array([[100.0]])) == pytest.approx([0.2 * 100**0.3], rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: discover(np.ones((5, 1)), np.ones(5), ["n"]), "too few"),
        (lambda: discover(N[:, None], SQRT[:-1], ["n"]), "one value per row"),
        (lambda: discover(N[:, None], SQRT, ["n", "t"]), "X is"),
        (lambda: discover(N[:, None], np.where(N > 9000, np.nan, SQRT), ["n"]), "NaN"),
        (lambda: discover(N[:, None], SQRT, ["n"], engine="pysr"), "Known: gplearn, operon"),
        (lambda: discover(np.c_[N, N], SQRT, ["n", "n"]), r"each another one, not \['n', 'n'\]"),
        (lambda: discover(N[:, None], SQRT, [""]), "Variables have names"),
        (lambda: discover(np.ones((20, 0)), np.ones(20), []), "Variables have names"),
        (lambda: discover([["a"]] * 20, [1.0] * 20, ["n"]), "not all numbers"),
        (lambda: discover([[1.0]], [1.0], ["n"]), "1 rows are too few"),
        (lambda: discover(np.ones((12, 6)), np.ones(12), list("abcdef")), "too few"),
        (lambda: discover(N[:, None], SQRT, ["n"], scale=0), "above 0"),
        (lambda: discover(N[:, None], SQRT, ["n"], generations=0), "1 generation at least"),
        (lambda: discover_repeatedly(N[:, None], SQRT, ["n"], seeds=[]), "at least one seed"),
    ],
)
def test_bad_input_is_refused_with_a_reason(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()
