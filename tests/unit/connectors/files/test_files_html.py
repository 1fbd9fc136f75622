from hypothesis import given
from hypothesis import strategies as st

from connectors.files.web_page import html_to_markdown
from tests.unit.connectors.files.conftest import Convert

PAGE = """<html><head><title>Disk guide - Wiki</title><meta name="author" content="Li Wei">
<meta name="keywords" content="ops, disk"><script>var x = 1;</script></head><body>
<nav>Home</nav><div style="display:none">hidden</div><div role="navigation">menu</div>
<h1>Disk guide</h1><p>Clean <b>logs</b> &amp; caches.<br>Then <a href="next.html">go on</a>.</p>
<ol start="3"><li>One<ul><li>inner</li></ul></li><li><p>Two</p></li></ol>
<pre><code class="language-bash">rm -rf /tmp/x
df -h</code></pre>
<table><caption>Sizes</caption><thead><tr><th>Disk</th><th colspan="2">Size</th></tr></thead>
<tr><td rowspan="2">sda</td><td>1</td><td>2</td></tr><tr><td>3</td><td>a<br>b|c</td></tr>
<tr><td colspan="3">Total of all</td></tr></table>
<blockquote><p>Mind this.</p></blockquote>
<footer>Imprint</footer></body></html>"""


def test_page_keeps_its_structure_and_loses_its_frame(convert: Convert) -> None:
    page = convert("disk.html", PAGE)
    assert (page.title, page.author, page.labels) == ("Disk guide", "Li Wei", ("ops", "disk"))
    assert [link.target for link in page.links] == ["next.html"]
    assert page.markdown == (
        "Clean **logs** & caches.\nThen go on.\n\n"
        "3. One\n   - inner\n4. Two\n\n"
        "```bash\nrm -rf /tmp/x\ndf -h\n```\n\n"
        "Sizes\n\n"
        "| Disk | Size | Size |\n| --- | --- | --- |\n"
        "| sda | 1 | 2 |\n| sda | 3 | a b\\|c |\n| Total of all |  |  |\n\n"
        "> Mind this."
    )


def test_declared_chinese_encoding_is_used(convert: Convert) -> None:
    html = (
        '<html><head><meta charset="gb2312"></head><body><p>磁盘已满，请清理。镕</p></body></html>'
    )
    assert convert("a.html", html.encode("gb18030")).markdown == "磁盘已满，请清理。镕"


def test_wrong_declaration_does_not_garble(convert: Convert) -> None:
    html = '<html><head><meta charset="ascii"></head><body><p>磁盘已满</p></body></html>'
    assert convert("a.html", html).markdown == "磁盘已满"


def test_layout_table_of_one_column_is_taken_apart() -> None:
    html = "<table><tr><td><h2>Head</h2><p>text</p></td></tr></table>"
    assert html_to_markdown(html) == "## Head\n\ntext"


def test_lists_in_cells_stay_in_their_row() -> None:
    cell = "<td>x<ul><li>1</li><li>2</li></ul></td>"
    html = f"<table><tr><th>a</th><th>b</th></tr><tr>{cell}<td>y</td></tr></table>"
    assert html_to_markdown(html).endswith("| x; 1; 2 | y |")


def test_check_boxes_and_pictures_are_said() -> None:
    html = '<p><input type="checkbox" checked>done <img src="x.png" alt="a plan"></p>'
    assert html_to_markdown(html) == "[x] done [a plan]"


def test_huge_spans_cost_nothing() -> None:
    cell = '<td colspan="99999999" rowspan="99999999">a</td>'
    html = f"<table><tr>{cell}</tr><tr><td>b</td></tr></table>"
    assert len(html_to_markdown(html)) < 100_000


@given(st.text(alphabet='<>/tabledrhp li="1&;#', max_size=150))
def test_any_markup_converts(text: str) -> None:
    html_to_markdown(text)
