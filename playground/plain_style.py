"""The look of the plain pages of wiki and notes."""

STYLE = (
    ":root{color-scheme:light dark;--bg:#fff;--text:#1d2a2f;--faint:#5b6b72;--line:#dde4e6;"
    "--soft:#f3f6f7;--accent:#1f5e70;--on:#fff;--warn:#b3261e}"
    "@media(prefers-color-scheme:dark){:root{--bg:#14191c;--text:#e3eaec;--faint:#9aabb2;"
    "--line:#2b363b;--soft:#1d2428;--accent:#5cb3ca;--on:#06161b;--warn:#f0776e}}"
    "*{box-sizing:border-box}"
    "body{font:15px/1.6 system-ui,'PingFang SC','Microsoft YaHei','Noto Sans CJK SC',sans-serif;"
    "max-width:54rem;margin:0 auto;padding:1.5rem 1.25rem 4rem;color:var(--text);"
    "background:var(--bg);overflow-wrap:anywhere}"
    "h1{font-size:1.6rem;line-height:1.3;margin:.4rem 0}h2{font-size:1.1rem;margin:1.6rem 0 .4rem}"
    "a{color:var(--accent);text-underline-offset:2px}small,.faint{color:var(--faint)}"
    "ul{padding-inline-start:1.2rem}li{margin:.15rem 0}"
    "hr{border:0;border-top:1px solid var(--line);margin:2rem 0 1rem}"
    "pre{background:var(--soft);border:1px solid var(--line);border-radius:8px;padding:1rem;"
    "font:inherit;white-space:pre-wrap}"
    "label{display:grid;gap:.2rem;margin:.8rem 0;font-weight:600}"
    "input,select,textarea{width:100%;font:inherit;font-weight:400;color:inherit;"
    "background:var(--bg);border:1px solid var(--line);border-radius:8px;padding:.45rem .6rem}"
    "textarea{resize:vertical}"
    "button{font:inherit;font-weight:600;cursor:pointer;color:var(--on);background:var(--accent);"
    "border:0;border-radius:8px;padding:.45rem 1rem}"
    ":focus-visible{outline:2px solid var(--accent);outline-offset:2px}"
    ".b{border-inline-start:3px solid var(--line);padding-inline-start:.8rem;margin:.8rem 0}"
    ".t{color:var(--warn)}.row{display:flex;gap:.5rem;margin:.5rem 0}.row button{flex:none}"
    ".big{min-height:18rem;font-family:ui-monospace,monospace;font-size:.9rem}"
)
HEAD = (
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
    '<link rel="icon" href="data:,">'
)
