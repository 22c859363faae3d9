"""Names that try to be more than names."""

PLANTED = (
    "<script>window.planted = 1</script>",
    "</script><img src=x onerror='window.planted = 1'>",
    "<!--<script>",
    "\"quoted\" & 'quoted' &amp; {{title}}",
    "100 % of #node=1?a=b",
    "%zz",
    "عربي \u2028 \\u003c",
)
