"""Forms in which prose states a bound, with every number as ``⟦n⟧``, and the words around them that decide."""

from __future__ import annotations

import re

from dowbench.patterns import Patterns

NUMBER_WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
    "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100, "thousand": 1_000,
}  # fmt: skip

_N = "⟦(?P<n>\\d+)⟧"
_LOW = "⟦(?P<low>\\d+)⟧"
_LEAD = r"(?:the |a |an |only |about |around |roughly |approximately |exactly |[~=:(] ?)*"

_MOST = r"max(?:imum)?|at (?:the )?most|maximum of|most recent|first|last|top|latest"
_THAN = r"(?:more|greater|larger|longer|higher|bigger) than"
_WHOLE = (
    r"the|its|this|these|all|any|each|returned|individual|total|very|long|large|hard|soft|number|of|results?|outputs?|"
    r"responses?|replies|items?|entries|rows|text|contents?|body|bodies|it|them|values?|lines|fields|messages?|lists?|"
    r"sets?|pages?|files?|per"
)
_SIZED = (
    r"values?|numbers?|allowed|limit|sizes?|counts?|length|is|of|for|this|results?|items?|entries|rows|records|lines|"
    r"pages?|per|request|call|possible|supported|permitted|allowable|total|set|at|to|are|can|be|currently|output|the|also"
)
_CUTS = (
    r"cap(?:s|ped|ping)?|limit(?:s|ed|ing)?|truncat(?:es?|ed|ing|ion)|clamp(?:s|ed)?|trim(?:s|med)?|cuts?(?: off)?|"
    r"shorten(?:s|ed)?|restrict(?:s|ed)?|bound(?:ed)?|clip(?:s|ped)?|stop(?:s|ped)?"
)
FORMS = (
    # between 1 and 100; a value from 1 to 100; range: 1-100; 1 <= n <= 100
    ("between", rf"\bbetween {_LOW}(?: \w+)? ?(?:and|to|&|[-–—]) ?{_N}"),
    (
        "range|value|number|integer",
        rf"\b(?:ranges?|values?|numbers?|integers?)\b[^.;⟦]{{0,24}}?[ :(\[]{_LOW} ?(?:[-–—,…]|\.\.\.?|to|and) ?{_N}",
    ),
    ("from |in ", rf"\b(?:from|within|in) [\[(]?{_LOW} ?(?:to|[-–—]|\.\.\.?) ?{_N}"),
    ("<|≤", rf"{_LOW} ?(?:<=?|≤) ?\w+ ?(?:<=?|≤) ?{_N}"),
    # max 100; maximum of 50; maximum value is 1000; Maximum: 100; max_length=100; 100 max; 50 or fewer
    ("max", rf"\bmax(?:imum|\.)?(?:[ _-](?:{_SIZED}))* ?[:=]? ?{_LEAD}{_N}"),
    (
        "max|most|upper limit|tops",
        rf"{_N} ?(?:\w+ )?\(?(?:(?:is|as) )?(?:the )?(?:max(?:imum)?\b|at (?:the )?most\b|upper limit|tops\b)",
    ),
    ("or fewer|or less|or below", rf"{_N} ?(?:\w+ )?or (?:fewer|less|below)\b"),
    # up to 50; at most 50; no more than 50; must not exceed 50; <= 50; less than 50
    (
        "up to|up-to|upto|up -to",
        rf"\bup ?-?to (?:(?:a )?(?:maximum|max|limit|total) (?:of )?|the (?:first|last|top) )?{_LEAD}{_N}",
    ),
    (
        "most|than|no over|<|≤|lte|upper",
        (
            rf"(?:\bat (?:the )?most|\bno {_THAN}|\bno over|<=?|≤|\blte\b|\bupper (?:bound|limit)(?: (?:of|is))?) ?"
            rf"{_LEAD}{_N}"
        ),
    ),
    (
        "exceed|above|over|than",
        (
            r"(?:\b(?:not|never|cannot)|n['’]t) (?:(?:be|return|have|contain) )?"
            rf"(?:exceed(?:ing)?|above|over|{_THAN}) {_LEAD}{_N}"
        ),
    ),
    ("than", rf"\b(?:less|fewer|lower|smaller|shorter) than (?:or equal to )?{_LEAD}{_N}"),
    # capped at 50; limited to 50; limit of 50; cap: 50; truncated to the first 2,000 characters
    (
        "cap|limit|trunc|clamp|trim|cut|shorten|restrict|bound|clip|stop",
        (
            rf"\b(?:{_CUTS})\b(?: (?!default|min|offset)(?:(?:{_WHOLE}) )*(?:at|to|after|of|is|by|beyond|past|"
            rf"around|above))?"
            rf"(?: (?:the )?(?:{_MOST}))? ?[:=]? ?{_LEAD}{_N}"
        ),
    ),
    # the first 20 results; the 20 most recent messages; top 5
    (
        "first|last|top|latest|newest|oldest|recent|best|closest|nearest",
        rf"\b(?:first|last|top|latest|newest|oldest|most recent|best|closest|nearest)[ -]{_N}(?! ?[-:/] ?⟦)",
    ),
    (
        "most|best|closest|nearest|newest|latest|top|largest|highest",
        (
            rf"{_N} (?:most (?:recent|relevant|similar|popular|active)|best|closest|nearest|newest|latest|top|"
            rf"largest|highest)\b"
        ),
    ),
    # 20-result limit; returns 10 results; 10 results per page; a page size of 10
    ("limit|cap|maximum|ceiling", rf"{_N}[ -]\w+[ -](?:limit|cap|maximum|ceiling)\b"),
    (
        "return|show|display|list|give|retrieve|fetch|get|yield|contain|hold",
        (
            r"\b(?:returns?|shows?|displays?|lists?|gives?|retrieves?|fetch(?:es)?|gets?|yields?|"
            r"(?:results?|responses?|outputs?|answers?|pages?|lists?) (?:contains?|holds?)) "
            rf"(?:exactly |only )*{_N} (?!or more|more)"
        ),
    ),
    ("size", rf"\b(?:page|batch|chunk) size (?:of|is) {_LEAD}{_N}"),
    (
        "page|call|request|query|response|batch",
        rf"{_N} \w+ (?:per|a|each) (?:page|call|request|query|response|batch)\b",
    ),
    # 最大100件, 最多 50 条, 不超过 20 个: the same in Japanese and Chinese
    (
        "最大|最多|至多|不超过|上限",
        (
            rf"(?:最大|最多|至多|不超过|上限)[\u3040-\u9fff]{{0,4}} ?{_N} ?"
            r"(?=[件条項项篇]|[個个](?![^，。、\s]{0,6}中))"
        ),
    ),
    # output longer than 2000 lines is cut; files larger than 50 MB are not returned
    (
        "exceed|than|over|above|beyond",
        (
            rf"\b(?:exceed(?:s|ing)?|{_THAN}|over|above|beyond) {_LEAD}{_N}"
            r"(?=[^.;]{0,60}\b(?:truncat|cut|trim|clip|skip|omit|not|never|error|reject|refus|drop|split|shorten|fail|"
            r"instead))"
        ),
    ),
    (
        "exceed|than|over|above|beyond",
        (
            rf"\b(?:truncat\w*|cut|trim\w*|clip\w*|skip\w*|omit\w*|reject\w*|drop\w*|refus\w*|fails?)\b[^.;⟦]{{0,50}}?\b"
            rf"(?:exceed(?:s|ing)?|{_THAN}|over|above|beyond) {_LEAD}{_N}"
        ),
    ),
)
"""Stems, one of which stands wherever their form does. ``n`` is the bound, ``low`` the lower end of a range."""


def forms_in(text: str) -> list[re.Pattern[str]]:
    """The forms that may stand in a text."""
    text = text.lower()
    return [re.compile(form, re.IGNORECASE) for stems, form in FORMS if any(map(text.__contains__, stems.split("|")))]


PATTERNS = Patterns(
    number=(
        r"(?a:(?:\b\d{1,3}(?:[,_\u00a0\u202f\u2009]\d{3})+|\b\d+(?:\.\d+)?)"
        r"(?:\s?(?:k|thousand|million|[kmg]i?b|kilobytes|megabytes)\b)?(?!\w|\.\d))"
        r"|\b(?:a |one )?(?:" + "|".join(NUMBER_WORDS) + r")\b"
    ),
    clause=(
        r"(?-i:"
        r"(?<=[.!?;])\s+(?=[A-Z\"'(\[~-]|\d+\.)|\n\s*\n\s*|(?<=[.!?:;])\n"
        r"|\n(?=\s*(?:[-*•+]|\d+[.)]\s|[A-Z][a-z]|[\"'(\[]|\w+\s*(?:\([^)\n]*\))?\s*:))|;\s"
        r"|(?<=[a-z)])(?<!max)(?<!min)(?<!prox)(?<!\.g)(?<!\.e)\.\s)"
    ),
    bare_range=rf"(?:^|[ (\[:]){_LOW} ?(?:[-–—]|\.\.\.?|to) ?{_N}(?! ?[-–/:] ?⟦)",
    unit=(
        r"[ )]*(?:of )?(?:(?:the|its|unique|individual|total|matching|recent|raw|most|relevant|similar|new|"
        r"latest) )*"
        r"(?P<unit>[a-z%°]+|[件条項项個个篇])"
    ),
    no_bound=(
        r"\b(?:default(?:s|ing|ed)?(?: (?:is|of|to|value|limit))*|e\.?g\.?,?|such as|example:?|like|i\.e\.?,?|"
        r"recommended|suggest(?:ed|ion)?|typical(?:ly)?|ideally|usually|consider|prefer(?:ably|red)?|at least|"
        r"minimum(?: (?:of|is|value))*|min|starts? (?:at|from|with)|greater than)[ :=(\"']*$"
    ),
    example=r"\b(?:for (?:example|instance)|example ?:|if you (?:want|need|would)|would (?:return|give|list|show))\b",
    call=r"\w\(",
    advice=(
        r"\b(?:recommend\w*|suggest\w*|typical(?:ly)?|ideally|usually|(?:higher|larger|lower) values?|sensible|"
        r"good (?:value|default|range)|reasonable|advis\w+|consider|prefer\w*|best practice)\b"
    ),
    input=(
        r"\b(?:accepts?|uploads?|supply|supplies|provide[sd]?|pass(?:es|ed)?|specify|specified|inputs?|"
        r"supports?|send|"
        r"sending|attach\w*|creat(?:es?|ing)|updat(?:es?|ing)|inserts?|deletes?|adds?|adding|processes|takes?|"
        r"must be|"
        r"query (?:text|string)|prompt|request body|your (?:query|message|file)|handles?|compare|batch)\b"
    ),
    yields=(
        r"\b(?:return(?:s|ed|ing)?|results?|outputs?|respon(?:ses?|ds?|ded)|shows?|shown|display(?:s|ed)?|"
        r"list(?:s|ed)?|"
        r"retriev(?:e|es|ed|ing)|fetch(?:es|ed)?|gets?|gives?|read(?:s|ing)?|truncat\w*|inline|capp?ed|cap|"
        r"matches|hits|"
        r"include[sd]?|yield(?:s|ed)?|search(?:es)?|find(?:s|ing)?|most recent|latest|downloaded)\b"
    ),
    page_size=r"\b(?:page|result) (?:size|limit|count)\b",
    each=r" ?(?:\w+ )?(?:(?:per|a|each) (?:page|call|request|query|response)\b|each\b)",
    returned=(
        r"[^,(]{0,40}?\b(?:is|are|be|get|gets) (?:returned|listed|shown|displayed|fetched|retrieved|included)\b"
        r"| ?(?:\w+ ){1,2}(?:returned|listed|shown|displayed|fetched|retrieved|included)\b"
    ),
    truncates=(
        r"\b(?:(?:is|are|be|gets?|been|was|were|being|automatically|may|will|can) (?:(?!never|not)\w+ )?"
        r"(?:truncated|trimmed|clipped|"
        r"shortened|abridged|abbreviated|elided|cut (?:off|down|short|in the middle|after|with)|cut(?=[.,;:)]|$))|"
        r"(?:will|may|automatically|to) truncate|truncates? (?:(?:the|its|long|large|"
        r"very) )*(?:output|"
        r"results?|responses?|text|contents?|logs?|bod)|(?:outputs?|results?|responses?|contents?|logs?|"
        r"text) truncation|"
        r"truncated (?:output|results?|response|content|text|version|preview|logs?|to\b)|"
        r"truncation ?(?:warning|marker|"
        r"notice|handling)|\w+truncationwarning|(?:capped|bounded|limited) (?:\w+ )?(?:outputs?|responses?|results?"
        r"|prefix|excerpts?|snippets?|previews?|window|slice|subset|page|view|summar(?:y|ies))\b"
        r"|sav(?:es?|ed) (?:to|in|as) (?:a |the )?(?:file|disk) (?:for|when|if) (?:\w+ )?(?:large|big|long)"
        r"|(?:large|long|big)[\w ]{0,30} (?:is|are|get|be) (?:automatically )?(?:saved|written|stored) (?:to|in|as)"
        r"|(?:results?|size|rows?|token|character|output|response) (?:limit|cap|budget)s? (?:\w+ ){0,2}"
        r"(?:reached|exceeded|hit)"
        r"|limited (?:number|set|amount|list|sample|selection) of|(?:only a|the first|the top) (?:few|handful)"
        r"|more than [A-Z]+_[A-Z_]+ (?:rows|items|results|characters|bytes|lines|tokens))"
    ),
    held=(
        r"\b(?:(?:is|are|be|will be|gets?|silently|server-?side) (?:capped|clamped|limited) (?:at|to|by)\b"
        r"|(?:cannot|must not|may not|can not) (?:be exceeded|exceed)\b)"
    ),
    negated=r"(?:\b(?:no|not|never|without|isn['’]t)|n['’]t)\b[ \w]{0,20}$",
)
