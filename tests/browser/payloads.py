"""Texts that would run as a script, load a file or send a form, if a page did not escape them."""

from __future__ import annotations

from itertools import product

ELSEWHERE = "https://elsewhere.invalid"
"""Requests to it would leave the machine; each is counted."""
_SCRIPTS = (
    "<script>window.ran=1</script>",
    f"<script src={ELSEWHERE}/x.js></script>",
    "<img src=x onerror=window.ran=1>",
    f"<img src={ELSEWHERE}/x.png>",
    "<svg onload=window.ran=1>",
    "<svg><animate onbegin=window.ran=1 attributeName=x dur=1s>",
    "<iframe srcdoc='<script>parent.ran=1</script>'></iframe>",
    f"<link rel=stylesheet href={ELSEWHERE}/x.css>",
    f"<form action={ELSEWHERE}><button autofocus onfocus=window.ran=1>x",
    "<details open ontoggle=window.ran=1>",
    "<body onpageshow=window.ran=1>",
    f"<meta http-equiv=refresh content='0;url={ELSEWHERE}'>",
    f"<base href={ELSEWHERE}/>",
    "<a href=javascript:window.ran=1 autofocus>x</a>",
    "<input autofocus onfocus=window.ran=1>",
    "<math><mi xlink:href=javascript:window.ran=1>x",
    "<template><script>window.ran=1</script></template>",
    "<div hx-get=/sign-out hx-trigger=load hx-on::load=window.ran=1>",
    "{{ ''.__class__ }}{% raw %}",
    "javascript:window.ran=1",
)
_WRAPS = (
    "{}",
    '"{}',
    "'{}",
    '">{}',
    "'>{}",
    "</title>{}",
    "</textarea>{}",
    "--><!-- {} -->",
    "]]>{}",
    "\u202e{}\u2066",
)
PAYLOADS = tuple(wrap.format(script) for script, wrap in product(_SCRIPTS, _WRAPS))
