"""Names as words."""

import pytest

from dowbench.words import find, split


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("list_open_tickets", "list open tickets"),
        ("listOpenTickets", "list open tickets"),
        ("list-open.tickets/by user", "list open tickets by user"),
        ("getURLs", "get urls"),
        ("URLsById", "urls by id"),
        ("userIDs", "user ids"),
        ("HTTPServer2", "http server 2"),
        ("top_k", "top k"),
        ("topK", "top k"),
        ("page2", "page 2"),
        ("OAuthToken", "o auth token"),
        ("GET_ITEMS", "get items"),
        ("$ref", "ref"),
        ("__proto__", "proto"),
        ("últimosPedidos", "últimos pedidos"),
        ("ＬｉｍｉｔMax", "limit max"),
        ("li\u200bmit", "limit"),
        ("獲取文件", "獲取文件"),
        ("---", ""),
        ("", ""),
    ],
)
def test_split(name: str, words: str) -> None:
    assert split(name) == tuple(words.split())


def test_no_word_is_found_inside_another_or_across_a_gap() -> None:
    assert find(split("your_license"), ["url"]) is None
    assert find(split("unlimited_results"), ["limit"]) is None
    assert find(split("next_page_token"), ["next", "token"]) is None


def test_find_gives_the_place() -> None:
    assert find(split("get_next_page_token"), ["page", "token"]) == 2
    assert find(split("page_page_token"), ["page", "token"]) == 1
    assert find((), ["page"]) is None
    assert find(("page",), ()) is None
