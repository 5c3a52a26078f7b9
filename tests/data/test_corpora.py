"""Readers of text corpora, the split by hash and the label matrix."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from orchard.data.corpora import (
    Corpus,
    label_matrix,
    read_csv,
    read_pubmed,
    read_reuters,
    some_documents,
    split_by_hash,
    to_dataset,
    with_frequent_labels,
)
from orchard.data.prepare import prepare
from orchard.data.readers import pubmed
from orchard.data.sources import fetch
from orchard.errors import FormatError

PUBMED = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "http://example.org/pubmed.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation>
  <PMID Version="1">11</PMID>
  <Article>
    <ArticleTitle>Effects of <i>E. coli</i> on
      H<sub>2</sub>O.</ArticleTitle>
    <Abstract>
      <AbstractText Label="AIM">Growth &amp; decay.</AbstractText>
      <AbstractText Label="RESULT">α rose.</AbstractText>
    </Abstract>
  </Article>
  <OtherAbstract><AbstractText>Wachstum und Verfall.</AbstractText></OtherAbstract>
  <CommentsCorrectionsList><CommentsCorrections><PMID>99</PMID></CommentsCorrections></CommentsCorrectionsList>
  <MeshHeadingList>
    <MeshHeading><DescriptorName>Water</DescriptorName><QualifierName>analysis</QualifierName></MeshHeading>
    <MeshHeading><DescriptorName>Escherichia coli</DescriptorName></MeshHeading>
  </MeshHeadingList>
</MedlineCitation></PubmedArticle>
<PubmedArticle><MedlineCitation>
  <PMID>12</PMID>
  <Article><ArticleTitle>No abstract.</ArticleTitle><Abstract><AbstractText> </AbstractText></Abstract></Article>
  <MeshHeadingList><MeshHeading><DescriptorName>Water</DescriptorName></MeshHeading></MeshHeadingList>
</MedlineCitation></PubmedArticle>
<PubmedArticle><MedlineCitation>
  <PMID>13</PMID>
  <Article><ArticleTitle>No heading.</ArticleTitle><Abstract><AbstractText>Text.</AbstractText></Abstract></Article>
</MedlineCitation></PubmedArticle>
</PubmedArticleSet>
"""


@pytest.fixture
def write(tmp_path):
    """Write bytes, text, or any other value as JSON, to a file of the test's own; gzip by the name's ending."""

    def write_file(name: str, content) -> Path:
        if not isinstance(content, bytes):
            content = (content if isinstance(content, str) else json.dumps(content)).encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write_file


def refused(message: str):
    """The message in full, as a user reads it after the folder's name."""
    return pytest.raises(FormatError, match=re.escape(message) + "$")


def test_pubmed_keeps_articles_with_abstract_and_heading(write):
    """Mark-up inside a title is text; other abstracts, qualifiers and the PMIDs of comments are not part of it."""
    corpus = read_pubmed(write("articles.xml.gz", PUBMED))
    assert corpus == Corpus(
        ids=["11"],
        texts=["Effects of E. coli on H2O. Growth & decay. α rose."],
        labels=[["Water", "Escherichia coli"]],
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</Abstract>", "</Abstact>", ":12: malformed XML: mismatched tag"),
        ("</PubmedArticleSet>\n", "", ":30: malformed XML: no element found"),
        ("&amp;", "&", ":10: malformed XML: not well-formed (invalid token)"),
        ("α", "\ud800", ":11: malformed XML: not well-formed (invalid token)"),
        ("&amp;", "&alpha;", ":10: entity 'alpha': only the five entities of XML itself are accepted"),
        (' PUBLIC "-//NLM', ' [<!ENTITY a "aa">]><!-- PUBLIC', ":2: entity 'a': only the five entities"),
        ('<PMID Version="1">11</PMID>', "", ":20: an article needs exactly one PMID"),
        ("<PMID>12</PMID>", "<PMID> </PMID>", ":25: an article needs exactly one PMID"),
        ("<PMID>12</PMID>", "<PMID>11</PMID>", ":25: PMID 11 again, after the article that ends in line 20"),
        ("Escherichia coli", " ", ":20: PMID 11: a DescriptorName is empty"),
        ("PubmedArticle>", "PubmedBook>", ":5: PMID outside of a PubmedArticle"),
        ("<MedlineCitation", "<PubmedArticle/><MedlineCitation", ":4: a PubmedArticle inside of another"),
        ('encoding="utf-8"', 'encoding="foo-8"', ":1: the encoding cannot be read: unknown encoding: foo-8"),
        ('encoding="utf-8"', 'encoding="big5"', ":1: the encoding cannot be read: multi-byte encodings"),
        ("MeshHeading>", "Heading>", ": no article has both an abstract and a MeSH heading"),
    ],
)
def test_pubmed_refuses_malformed_xml(write, old, new, message):
    """Each defect is named with the line in which it was found."""
    assert old in PUBMED
    path = write("articles.xml.gz", PUBMED.replace(old, new).encode(errors="surrogatepass"))
    with pytest.raises(FormatError, match=re.escape(f"articles.xml.gz{message}")):
        read_pubmed(path)


def test_pubmed_never_expands_nested_entities(write):
    """A billion laughs must cost nothing, wherever they stand in the document type."""
    entities = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
    path = write("bomb.xml.gz", f"<!DOCTYPE x [{entities}]>\n<x>&a9;</x>")
    with refused("bomb.xml.gz:1: entity 'a0': only the five entities of XML itself are accepted"):
        read_pubmed(path)


def damage_checksum(packed: bytes) -> bytes:
    return packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:]


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda packed: PUBMED.encode(), "damaged gzip file: Not a gzipped file"),
        (lambda packed: packed[: len(packed) // 2], "damaged gzip file: Compressed file ended"),
        (damage_checksum, "damaged gzip file: CRC check failed"),
        (lambda packed: packed[:40] + b"\xff" * 40 + packed[80:], "damaged gzip file: Error -3 while decompressing"),
        (lambda packed: b"", "malformed XML: no element found"),
    ],
)
def test_pubmed_refuses_a_damaged_file(tmp_path, damage, problem):
    """A download that broke off must not pass for a smaller corpus."""
    path = tmp_path / "articles.xml.gz"
    path.write_bytes(damage(gzip.compress(PUBMED.encode(), mtime=0)))
    with pytest.raises(FormatError, match=rf"articles\.xml\.gz:\d+: {re.escape(problem)}"):
        read_pubmed(path)


def test_reuters_keeps_documents_with_body_and_topics(write):
    """Line breaks and the control character that ends each body become blanks; files stay in order."""
    first = [
        {"id": "1", "title": "COCOA  REVIEW", "body": "Showers\n    continued.\nReuter\n\x03", "topics": ["cocoa"]},
        {"id": "2", "title": "No body", "topics": ["cocoa"]},
        {"id": "3", "title": "No topics", "body": "Text."},
        {"id": "4", "body": " \x03", "topics": ["cocoa"]},
    ]
    second = [{"id": "5", "body": "Untitled.", "topics": ["wheat", "corn"], "date": "26-FEB-1987", "places": ["usa"]}]
    corpus = read_reuters([write("reuters-000.json", first), write("reuters-001.json", second)])
    assert corpus == Corpus(
        ids=["1", "5"],
        texts=["COCOA REVIEW Showers continued. Reuter", "Untitled."],
        labels=[["cocoa"], ["wheat", "corn"]],
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[\n{"id": "1"},\n{"id": }]', "a.json:3: malformed JSON: Expecting value"),
        ("", "a.json:1: malformed JSON: Expecting value"),
        ("[" + "1" * 5000 + "]", "a.json: malformed JSON: a number of thousands of digits"),
        (
            '[{"id": "1", "body": "\\ud800"}]',
            "a.json: document 1: 'body' has half of a surrogate pair, which is no character",
        ),
        ('[{"id": "1", "topics": [" "]}]', "a.json: document 1: 'topics' is not a list of names"),
        ("[" * 100_000, "a.json: malformed JSON: nested too deeply"),
        (b'[\n{"id": "\xff"}]', "a.json:2: not UTF-8: invalid start byte 0xff"),
        ({"id": "1"}, "a.json: the file is not a list of documents"),
        ([{"id": "1"}, "2"], "a.json: document 2: not an object"),
        ([{"title": "x"}], "a.json: document 1: 'id' is missing or empty"),
        ([{"id": 1}], "a.json: document 1: 'id' is not a string"),
        ([{"id": "1", "body": None}], "a.json: document 1: 'body' is not a string"),
        ([{"id": "1", "topics": "cocoa"}], "a.json: document 1: 'topics' is not a list of names"),
        ([{"id": "1", "topics": ["cocoa", ""]}], "a.json: document 1: 'topics' is not a list of names"),
        ([{"id": "1"}, {"id": "1"}], "a.json: document 2: id '1' again, after a.json"),
        ([{"id": "1", "body": "Text."}], "Reuters-21578: no document has both a body and topics"),
    ],
)
def test_reuters_refuses_malformed_files(write, content, message):
    """Each defect is named with its line or with the document that has it."""
    with refused(message):
        read_reuters([write("a.json", content)])


def test_csv_reads_quoted_fields_and_ignores_other_columns(write):
    """As a spreadsheet writes it: byte order mark, CRLF, quotes, line breaks in a field, texts of any length."""
    long_text = "word " * 40_000
    path = write(
        "own.csv",
        f'\ufefflabels,year,text\r\na; b b ,1,"Two\r\nlines, ""quoted"""\r\n,2,No labels\r\nb b,3,{long_text}\r\n',
    )
    corpus = read_csv(path)
    assert corpus.texts == ['Two lines, "quoted"', "No labels", long_text.strip()]
    assert corpus.labels == [["a", "b b"], [], ["b b"]]
    assert len(set(corpus.ids)) == 3


def test_csv_passes_over_blank_lines(write):
    """Many programs leave one at the end; line numbers still count them."""
    assert read_csv(write("own.csv", "text,labels\nA,b\n\nC,d\n\n")).texts == ["A", "C"]
    with pytest.raises(FormatError, match=r"own\.csv:4: 1 fields"):
        read_csv(write("own.csv", "text,labels\nA,b\n\nC\n"))


def test_csv_names_its_columns_and_separator(write):
    """Nobody has to rename the columns of an existing file."""
    corpus = read_csv(write("own.csv", "body,tags\nText,a|b;c\n"), "body", "tags", "|")
    assert (corpus.texts, corpus.labels) == (["Text"], [["a", "b;c"]])


def test_csv_rows_keep_their_ids_in_any_order(write):
    """The id comes from the text, so that sorting a file does not change its split, and equal texts stay together."""
    corpus = read_csv(write("a.csv", "text,labels\none,x\ntwo,y\none,z\n"))
    swapped = read_csv(write("b.csv", "text,labels\ntwo,y\none,x\n"))
    assert corpus.ids[0] == corpus.ids[2] == swapped.ids[1] != corpus.ids[1] == swapped.ids[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "own.csv:1: the file is empty or its first line is; it must name the columns"),
        ("\ntext,labels\n", "own.csv:1: the file is empty or its first line is; it must name the columns"),
        ("text,label\nA,b\n", "own.csv:1: 0 columns are named 'labels'; the header has text, label"),
        ("text,labels,text\nA,b,C\n", "own.csv:1: 2 columns are named 'text'; the header has text, labels, text"),
        ("text,labels\n", "own.csv: no document follows the header"),
        ('text,labels\n"A\nB",c\nD\n', "own.csv:4: 1 fields where the header names 2 columns"),
        ("text,labels\nA,b,c\n", "own.csv:2: 3 fields where the header names 2 columns"),
        ("text,labels\nA,b\n \t,c\n", "own.csv:3: the text in column 'text' is empty"),
        ("text,labels\nA,b;;c\n", "own.csv:2: an empty label in 'b;;c'"),
        ("text,labels\nA,b;\n", "own.csv:2: an empty label in 'b;'"),
        (b"text,labels\nA,b\n\xe4,c\n", "own.csv:3: not UTF-8: invalid continuation byte 0xe4"),
        ('text,labels\nA,b\n"C,d\n', "own.csv:3: unexpected end of data"),
        ('text,labels\n"A"B,c\n', "own.csv:2: ',' expected after '\"'"),
    ],
)
def test_csv_refuses_malformed_files(write, content, message):
    """Each defect is named with the line in which its row begins."""
    with refused(message):
        read_csv(write("own.csv", content))


@pytest.mark.parametrize("read", [read_pubmed, read_csv, lambda path: read_reuters([path])])
def test_a_missing_file_is_told_as_any_other_problem(tmp_path, read):
    """A user sees one sentence, not a traceback."""
    with refused("absent: cannot be read: No such file or directory"):
        read(tmp_path / "absent")


def test_split_by_hash_is_stable_for_ever():
    """Places in [0, 1) from `printf %s ID | sha256sum`: 1 0.4200, 2 0.8299, 399296 0.3214, '' 0.8894, Ärzte 0.8295."""
    ids = ["1", "2", "399296", "", "Ärzte"]
    assert split_by_hash(ids, 0.42).tolist() == [False, False, True, False, False]
    assert split_by_hash(ids, 0.8296).tolist() == [True, False, True, False, True]
    assert split_by_hash(ids[::-1], 0.8296).tolist() == [True, False, True, False, True]
    assert split_by_hash(ids, 0).sum() == 0 and split_by_hash(ids, 1).all()
    assert split_by_hash([], 0.5).shape == (0,)


def test_split_by_hash_takes_the_fraction_asked_for():
    """Within four standard deviations, and a larger fraction keeps what a smaller one chose."""
    ids = [f"document {i}" for i in range(20_000)]
    fifth, third = split_by_hash(ids, 0.2), split_by_hash(ids, 1 / 3)
    assert abs(fifth.mean() - 0.2) < 4 * (0.2 * 0.8 / len(ids)) ** 0.5
    assert third[fifth].all()


@pytest.mark.parametrize("fraction", [-0.1, 1.5, float("nan")])
def test_split_by_hash_refuses_what_is_no_fraction(fraction):
    """A percentage where a fraction is meant would put everything into the test set."""
    with pytest.raises(ValueError, match="test_fraction must lie between 0 and 1"):
        split_by_hash(["1"], fraction)


def test_labels_that_few_training_documents_have_are_left_out_and_documents_that_have_no_other():
    """`rare` is frequent in the test part alone; `twice` stands twice in one document, and counts once."""
    corpus = Corpus(
        ids=["1", "2", "3", "4", "5"],
        texts=["one", "two", "three", "four", "five"],
        labels=[["fruit", "rare"], ["fruit"], ["twice", "twice"], ["rare", "fruit"], ["rare"]],
    )
    is_test = np.array([False, False, False, True, True])
    kept, in_test = with_frequent_labels(corpus, is_test, least=2)
    assert kept == Corpus(ids=["1", "2", "4"], texts=["one", "two", "four"], labels=[["fruit"]] * 3)
    assert in_test.tolist() == [False, False, True]
    kept, in_test = with_frequent_labels(corpus, is_test, least=1)
    assert kept == corpus
    assert in_test.tolist() == is_test.tolist()
    nothing, in_test = with_frequent_labels(corpus, is_test, least=3)
    assert nothing == Corpus()
    assert (in_test.dtype, in_test.shape) == (bool, (0,))


def numbered(n: int) -> Corpus:
    names = [f"{number}" for number in range(n)]
    return Corpus(names, [f"text {name}" for name in names], [[f"label {name}"] for name in names])


def test_some_documents_stay_the_same_whatever_else_there_is_and_a_larger_share_has_them_too():
    """Places in [0, 1) from `printf %s 'kept ID' | sha256sum`: 1 0.8746, 2 0.3115, 3 0.8664."""
    corpus = numbered(1000)
    fifth, half = some_documents(corpus, 0.2), some_documents(corpus, 0.5)
    assert fifth == some_documents(numbered(1000), 0.2)
    assert set(fifth.ids) <= set(half.ids)
    assert [name for name in half.ids if int(name) < 500] == some_documents(numbered(500), 0.5).ids
    assert fifth.texts == [f"text {name}" for name in fifth.ids]
    assert fifth.labels == [[f"label {name}"] for name in fifth.ids]
    assert some_documents(corpus, 1) == corpus
    assert some_documents(corpus, 0) == Corpus()
    assert some_documents(Corpus(["1", "2", "3"], ["a", "b", "c"], [[], [], []]), 0.87).ids == ["2", "3"]


def test_which_documents_are_kept_says_nothing_about_the_part_they_are_in():
    """Were it the hash that splits them, a fifth of the documents would all be test documents."""
    corpus = numbered(20_000)
    share = split_by_hash(some_documents(corpus, 0.2).ids, 0.2).mean()
    assert abs(share - 0.2) < 4 * (0.2 * 0.8 / 4000) ** 0.5


def articles(labels_of: dict[str, list[str]]) -> str:
    """A PubMed file of articles whose abstract is `about <PMID> things`."""
    heading = "<MeshHeading><DescriptorName>{}</DescriptorName></MeshHeading>"
    written = [
        f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><ArticleTitle>Title</ArticleTitle><Abstract>"
        f"<AbstractText>about {pmid} things</AbstractText></Abstract></Article>"
        f"<MeshHeadingList>{''.join(map(heading.format, labels))}</MeshHeadingList></MedlineCitation></PubmedArticle>"
        for pmid, labels in labels_of.items()
    ]
    return f"<PubmedArticleSet>{''.join(written)}</PubmedArticleSet>"


def test_pubmed_in_part_is_a_part_of_the_whole_on_the_same_side_of_the_split(write):
    """A share of the articles first, then the labels that are frequent among their training articles."""
    labels_of = {str(number): ["all", f"third {number % 3}", f"own {number}"] for number in range(10, 210)}
    path = write("articles.xml.gz", articles(labels_of))
    options = {"kind": "pubmed", "file": path.name, "test_fraction": 0.2}
    whole = pubmed.read(path.parent, options)
    part = pubmed.read(path.parent, options | {"share": 0.5})
    frequent = pubmed.read(path.parent, options | {"share": 0.5, "least": 2})
    for side in ("train", "test"):
        texts = getattr(part, f"texts_{side}")
        assert 0 < len(texts) < len(getattr(whole, f"texts_{side}"))
        assert set(texts) < set(getattr(whole, f"texts_{side}"))
        assert getattr(frequent, f"texts_{side}") == texts  # all of them have a frequent label
    assert frequent.label_names == ["all", "third 0", "third 1", "third 2"]
    assert set(part.label_names) > set(frequent.label_names)
    assert (np.diff(frequent.Y_train.indptr) == 2).all()
    n_train = len(whole.texts_train)
    assert pubmed.read(path.parent, options | {"least": n_train}).label_names == ["all"]


def test_label_matrix_agrees_with_looking_up_every_cell():
    """Ones exactly where a document has the label, repeated or not; canonical CSR."""
    rng = np.random.default_rng(5)
    vocabulary = [f"label {i}" for i in range(30)] + ["Ä", "a", "Z"]
    labels = [rng.choice(vocabulary, size=rng.integers(0, 8)).tolist() for _ in range(100)]
    Y, names = label_matrix(labels)
    assert names == sorted({name for row in labels for name in row})
    assert Y.format == "csr" and Y.dtype == np.float32 and Y.has_canonical_format and Y.indices.dtype == np.int32
    np.testing.assert_array_equal(Y.toarray(), [[name in row for name in names] for row in labels])


def test_to_dataset_keeps_rows_texts_and_labels_together():
    """Row i of X, of Y and of the texts is the same document, and labels of the test part alone have a column."""
    corpus = Corpus(
        ids=["1", "2", "3", "4"],
        texts=["red apple", "green pear", "red plum", "green kiwi"],
        labels=[["apple"], ["pear"], ["plum"], []],
    )
    dataset = to_dataset(corpus, np.array([False, True, False, False]), {"min_df": 1})
    assert dataset.texts_train == ["red apple", "red plum", "green kiwi"] and dataset.texts_test == ["green pear"]
    assert dataset.label_names == ["apple", "pear", "plum"]
    np.testing.assert_array_equal(dataset.Y_train.toarray(), [[1, 0, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(dataset.Y_test.toarray(), [[0, 1, 0]])
    # Terms of the training texts: apple, green, kiwi, plum, red. Of the test text only "green" is known.
    assert (dataset.X_train.toarray() > 0).tolist() == [
        [True, False, False, False, True],
        [False, False, False, True, True],
        [False, True, True, False, False],
    ]
    np.testing.assert_array_equal(dataset.X_test.toarray(), [[0, 1, 0, 0, 0]])


@pytest.mark.network
@pytest.mark.parametrize("name", ["pubmed-mesh", "reuters-21578"])
def test_real_corpora_have_the_registered_statistics(tmp_path, name):
    """What the packages deliver is what config/datasets/ says of it."""
    config_file = Path(__file__).parents[2] / "config" / "datasets" / f"{name}.yaml"
    config = yaml.safe_load(config_file.read_text(encoding="utf-8"))
    raw = fetch(name, config, tmp_path / "raw")
    measured = prepare(name, config, raw, tmp_path / "data")
    assert config["statistics"].keys() <= measured.keys()
