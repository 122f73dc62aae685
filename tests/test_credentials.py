"""Credentials in text: each form is replaced and nothing around it; ordinary text is left alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_gc.credentials import PLACEHOLDER, without_credentials
from context_gc.sensitive import is_sensitive

# in two parts, so that no scanner takes this file for a leak
FORMS = [
    "sk-" + "ant-api03-Ab1Cd2Ef3Gh4Ij5Kl6Mn7_op-Qr8",
    "sk-" + "proj-Ab1Cd2Ef3Gh4Ij5Kl6Mn7",
    "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc",
    "ghp" + "_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "github" + "_pat_11ABCDEFG0abcdefghijkl_MNOPQRSTUV",
    "glpat" + "-AbCdEfGhIjKlMnOpQrSt",
    "xox" + "b-123456789012-abcdefGHIJKL",
    "xox" + "p-123456789012-abcdefGHIJKL",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "AIza" + "SyA1B2C3D4E5F6G7H8I9J0K1L2M3N4O5P6Q",
    "npm" + "_Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9",
    "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow\nIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN " + "PRIVATE KEY-----\\nMIIEow\\n-----END PRIVATE KEY-----",
]


def clean(text: str) -> str:
    return without_credentials(text, is_sensitive)


@pytest.mark.parametrize("secret", FORMS, ids=lambda secret: secret[:8])
@pytest.mark.parametrize("around", ["{}", "before {} after", '("{}")', "x={}\n", "<{}>, {}", "é {} ü\ud800"])
def test_each_form_is_replaced_and_nothing_around_it(secret, around):
    assert clean(around.replace("{}", secret)) == around.replace("{}", PLACEHOLDER)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abc123def456ghi789", "Authorization: Bearer [left out]"),
        ("curl -H 'authorization: Basic dXNlcjpwYXNz1' x", "curl -H 'authorization: Basic [left out]' x"),
        ("send bearer a1b2c3d4e5f6g7h8i9j0 now", "send bearer [left out] now"),
        ("postgres://user:hunter2@db:5432/x", "postgres://user:[left out]@db:5432/x"),
        ("https://:t0ken@host and http://a:b@c", "https://:[left out]@host and http://a:[left out]@c"),
        ("export API_TOKEN=abcd1234efgh; make", "export API_TOKEN=[left out]; make"),
        ("`DB_PASSWORD=hunter2hunter`", "`DB_PASSWORD=[left out]`"),
        ("client_secret: 0123456789abcdef", "client_secret: [left out]"),
        ("my-api-key = deadbeef01deadbeef", "my-api-key = [left out]"),
        ("run --password hunter2hunter --verbose", "run --password [left out] --verbose"),
        ("run --api-key=abc12345 x", "run --api-key=[left out] x"),
        ('{"password": "correct horse; battery", "n": 1}', '{"password": "[left out]", "n": 1}'),
        ("{'apiKey': 'letters', 'n': 1}", "{'apiKey': '[left out]', 'n': 1}"),
        (r"{\"token\": \"letters\", \"n\": 1}", r"{\"token\": \"[left out]\", \"n\": 1}"),
        (r'"{\\\"token\\\":\\\"letters\\\"}"', r'"{\\\"token\\\":\\\"[left out]\\\"}"'),
        ('os.environ["API_KEY"] = "letters"', 'os.environ["API_KEY"] = "[left out]"'),
        ('{"secret": "(a", "token": "", "n": 1}', '{"secret": "[left out]", "token": "", "n": 1}'),
        ("key = Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8", "key = [left out]"),
        ("İSTANBUL api_key=abcd1234efgh", "İSTANBUL api_key=[left out]"),
        ("-----BEGIN PRIVATE " + "KEY-----\nMIIEow", "[left out]"),
    ],
)
def test_what_is_assigned_to_a_sensitive_name_is_replaced(text, expected):
    assert clean(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the password is required, a token too; see the secret santa list",
        "password = get_password()",
        "secret_key = base64.b64decode(x)",
        "token = tokens[index1]",
        "api_key = os.environ['OPENAI_API_KEY']",
        "password: string;",
        "max_tokens=4096, total_tokens: 123456789",
        "cache_key=user:12345678:v2",
        "primary_key = 'abc12345'",
        "keyboard=qwerty123456",
        "<li key=item-12345>",
        'JSON: {"key": "Enter"}',
        "task-force-2024-a-very-long-identifier-0123456789",
        "sk-learn",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "http://localhost:8080/path@2x.png",
        "mail user@example.com, ssh git@github.com:org/repo.git",
        "eyJ is how a JWT begins",
        "AKIA",
        "a bearer of bad news that nobody wanted",
        "[left out]",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert clean(text) == text


PIECES = st.sampled_from(
    [*FORMS, "password=", '"token": "', '"', "\\", "://", "a:b@", "Bearer ", "\n", " ", "key: ", "x1"]
)


@given(st.lists(PIECES | st.text(max_size=5), max_size=12).map(" ".join))
def test_cleaning_twice_is_as_cleaning_once(text):
    assert clean(clean(text)) == clean(text)
    assert not any(form in clean(text) for form in FORMS if len(form) > 60)


@pytest.mark.parametrize(
    "piece",
    ["x", "sk-", "token=", '"key":"', "eyJaaaaaaaaa.", "://a:", "Bearer ", "-----BEGIN PRIVATE KEY-----", "A", "("],
)
def test_a_search_is_linear(piece):
    """Eight times the text takes about eight times as long; were it quadratic it would be 64 times."""

    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        start = time.process_time()
        clean(text)
        return time.process_time() - start

    seconds(1_000)
    small = min(seconds(50_000) for _ in range(3))
    assert seconds(400_000) < 40 * max(small, 0.02)
