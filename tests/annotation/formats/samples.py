"""A small file of each format, with what every script of the world does to offsets."""

from tests.annotation.formats.reading import archive

TEXT = """\
Flüge von Zürich nach São Paulo
👩‍👩‍👧 went to कोलकाता , e\u0301te\u0301 !
طار أحمد إلى دبي
我 去 北京
"""

CSV = """\
id,text,tokens,intent,ner (spans)
a,"Hello, ""Zürich"" 👩‍👩‍👧 now",,greet,"[[1,2,""LOC""]]"
b,طار أحمد إلى دبي,,,
"""

TSV = 'label\tsentence\n1\ta "fine" day\n0\te\u0301te\u0301 🙂\n'

JSONL = """\
{"id":"a","document":"d","text":"👩‍👩‍👧 flew to Zürich","tokens":["👩‍👩‍👧","flew","to","Zürich"],\
"labels":{"ner":[[0,1,"PER"],[3,4,"LOC"]],"pos":["X","V","P","N"],"intent":"fly",\
"syntax":[[2,"nsubj"],[0,"root"],[4,"case"],[2,"obl"]],"rel":[[0,1,3,4,"to"]]},"parents":{"rel":"ner"}}
{"text":"我去北京","tokens":["我","去","北京"],"labels":{"ner":[]},"source":{"page":3}}
"""

CONLL2003 = """\
-DOCSTART- -X- O O

EU NNP I-NP I-ORG
rejects VBZ I-VP O
Züri NNP I-NP I-LOC
Bonn NNP B-NP B-LOC

-DOCSTART- -X- O O

e\u0301te\u0301 NN I-NP O
🙂 SYM O O

"""

CONLLU = """\
# newdoc id = doc-1
# sent_id = s1
# text = Don't fly to Zürich.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t_\tNER=O
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\tNER=O
3\tfly\tfly\tVERB\tVB\tVerbForm=Inf\t0\troot\t0:root\tNER=O
4\tto\tto\tADP\tIN\t_\t5\tcase\t_\tNER=O
5\tZürich\tZürich\tPROPN\tNNP\tNumber=Sing\t3\tobl\t_\tNER=B-LOC|SpaceAfter=No
6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\tNER=O

# a comment
# sent_id = s2
# text = 我去北京
# intent = travel
1\t我\t我\tPRON\t_\t_\t2\tnsubj\t_\tSpaceAfter=No
2\t去\t去\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
2.1\t了\t了\tPART\t_\t_\t_\t_\t2:aux\t_
3\t北京\t北京\tPROPN\t_\t_\t2\tobj\t_\t_

# sent_id = s3
# text = 👩‍👩‍👧 كتب
1\t👩‍👩‍👧\t_\t_\t_\t_\t_\t_\t_\t_
2\tكتب\t_\t_\t_\t_\t_\t_\t_\t_

"""

SLU = """\
# intent = flight
from\tO
São\tB-city
Paulo\tI-city
🙂\tO

# sent_id = 2
# intent = fare
e\u0301te\u0301\tB-date
دبي\tB-city

كتب\tO

"""

IE = """\
{"doc_key":"d1","sentences":[["Zürich","is","in","Schweiz"],["我","去","🙂"]],\
"ner":[[[3,3,"LOC"],[0,0,"LOC"]],[[4,4,"PER"]]],"relations":[[[0,0,3,3,"in"]],[]],"clusters":[[[0,0],[4,4]]]}
{"sentences":[["e\u0301te\u0301","كتب"]],"ner":[[]]}
"""

DOCCANO = """\
{"id":"1","text":"👩‍👩‍👧 flew to Zürich","tokens":["👩‍👩‍👧","flew","to","Zürich"],\
"entities":[{"id":0,"start_offset":0,"end_offset":5,"label":"PER"},\
{"id":1,"start_offset":14,"end_offset":20,"label":"LOC"}],\
"relations":[{"id":0,"from_id":0,"to_id":1,"type":"to"}],"cats":["fly"],"Comments":["x"]}
{"text":"我 去 北京","tokens":["我","去","北京"],"entities":[]}
"""

LABELSTUDIO = """\
[
{"data":{"text":"👩‍👩‍👧 flew to Zürich","tokens":["👩‍👩‍👧","flew","to","Zürich"],"id":"1","page":3},
 "annotations":[{"completed_by":1,"result":[
 {"id":"a","from_name":"ner","to_name":"text","type":"labels",
  "value":{"start":14,"end":20,"text":"Zürich","labels":["LOC"]}},
 {"id":"b","from_name":"ner","to_name":"text","type":"labels",
  "value":{"start":0,"end":5,"text":"👩‍👩‍👧","labels":["PER"]}},
 {"from_id":"b","to_id":"a","type":"relation","direction":"right","labels":["to"]},
 {"id":"c","from_name":"intent","to_name":"text","type":"choices","value":{"choices":["fly"]}},
 {"id":"d","from_name":"stars","to_name":"text","type":"rating","value":{"rating":4}}]}]},
{"data":{"text":"我 去 北京","tokens":["我","去","北京"]},"annotations":[{"result":[]}]},
{"data":{"text":"كتب","tokens":["كتب"]},"annotations":[]}
]
"""

BRAT = archive(
    doc1_txt="👩‍👩‍👧 flew to Zürich\n\nكتب أحمد\n",
    doc1_ann="T1\tPER 0 5\t👩‍👩‍👧\nT2\tLOC 14 20\tZürich\nR1\tto Arg1:T1 Arg2:T2\nA1\tSure T2\n",
    doc2_txt="我 去 北京\n",
)

SAMPLES: dict[str, bytes] = {
    "text": TEXT.encode(),
    "csv": CSV.encode(),
    "tsv": TSV.encode(),
    "jsonl": JSONL.encode(),
    "conll2003": CONLL2003.encode(),
    "conllu": CONLLU.encode(),
    "slu": SLU.encode(),
    "ie": IE.encode(),
    "doccano": DOCCANO.encode(),
    "labelstudio": LABELSTUDIO.encode(),
    "brat": BRAT,
}
