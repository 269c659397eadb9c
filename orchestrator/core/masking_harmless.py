"""Values that stand where a secret could and are none: references, names of secrets, code, types, prose, translations.

Every pattern is bounded or runs over one class of characters, so that none can backtrack.
"""

from __future__ import annotations

from orchestrator.core.masking_letters import compiled
from orchestrator.core.masking_patterns import MASKED, PATH, PLAIN_LIMIT, WINDOW, WORD

LINE = 200
"""So much of a line tells whether an unquoted value is code or prose."""

_SECRET_WORDS = frozenset(
    (
        *("password", "passwords", "passwd", "passphrase", "passcode", "pwd", "pass", "secret", "secrets", "token"),
        *("tokens", "key", "keys", "apikey", "credential", "credentials", "creds", "auth", "authorization", "oauth"),
        *(
            "cookie",
            "cookies",
            "bearer",
            "jwt",
            "csrf",
            "xsrf",
            "otp",
            "placeholder",
            "redacted",
            "example",
            "changeme",
        ),
        *("passwort", "kennwort", "zugangsdaten", "schlüssel", "geheimnis", "passe", "contraseña", "clave", "senha"),
        *("wachtwoord", "lösenord", "adgangskode", "kodeord", "passord", "salasana", "parola", "heslo", "hasło"),
        *("jelszó", "şifre", "parolă", "lozinka", "geslo", "slaptažodis", "parool", "sandi", "khẩu", "jeton"),
        *("contrasenya", "pasahitza", "şifrə", "lykilorð", "parole", "wagwoord", "fjalëkalimi", "cyfrinair"),
    )
)
"""Words that name a secret, in English and as translations do; what holds one and no digit is a name or a label."""

_COMMON_WORDS = frozenset(
    (
        *("undefined", "optional", "disabled", "generated", "unchanged", "anonymous", "incorrect", "mismatch"),
        *("malformed", "unexpected", "forbidden", "unauthorized", "authenticated", "authentication", "configured"),
        *("unconfigured", "refreshed", "invalidated", "encrypted", "incomplete", "unavailable", "unsupported"),
        *(
            "validated",
            "identifier",
            "available",
            "sensitive",
            "protected",
            "confidential",
            "permission",
            "permissions",
        ),
        *("requirements", "description", "unspecified", "deprecated", "expiration", "validation", "verification"),
        *("plaintext", "cleartext", "forgotten", "wildcard", "operator", "punctuation", "whitespace", "identity"),
        *("erforderlich", "obligatoire", "obligatoria", "requerida", "requerido", "incorrecta", "verplicht"),
        *("automatic", "automatically", "interactive", "separately", "elsewhere", "lowercase", "uppercase"),
    )
)
"""Words of more than eight letters that settings, logs and parsers put where a secret could stand."""

CLAIM = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}:C[0-9]{1,12}(?:\.[0-9]{1,4})?"
"""The token of a claim, made of the session and the number of a step; harmless where its own name stands before it."""
CLAIM_NAME = r"claim[_ -]?"
_CLOSERS = r"[\"'`)}\].,;:!>]{0,6}"
_MEMBER = r"(?:(?:->|\.|::|\?\.)[A-Za-z_]\w{0,63}|\[[\"'\w$.@*-]{0,64}\]?)"
_REFERENCES = (
    r"\$\{{1,2}[!#]?[ ]?[A-Za-z_][\w.\[\]\"'@*()-]{0,63}?(?::?[?+][^}]{0,99}|:?-)?[ ]?",
    rf"\$(?:[A-Z_][A-Z0-9_]{{0,63}}|[a-z_]{{1,40}}|[a-z]{{1,20}}(?:[A-Z][a-z]{{1,20}}){{1,4}}){_MEMBER}{{0,6}}(?:\([^\n]{{0,99}})?",
    r"\$env:[A-Za-z_]\w{0,63}",
    r"\$(?:\d{1,2}|[@*#?]|[A-Z][a-z]{2,20}(?:[A-Z][a-z]{1,20}){0,4})",
    r"%(?:\d|\*|~\d)",
    r"(?:sk|ghp|gho|ghs|hf|npm|xox[bp]|glpat|AIza|AKIA)[-_]?(?:ant-|proj-|live_|test_)?(?:[.…]{1,64}|[xX*]{3,64})?",
    r"\$\{?\(.{0,200}",
    r"%\{?[A-Za-z_][\w.:-]{0,63}[%}]",
    r"%\([A-Za-z_]\w{0,63}\)[a-z]",
    r"%[+#.]?\d{0,3}[a-zA-Z]",
    r"\{{1,3}[-&!#%]?[ ]?(?:[A-Za-z_][A-Za-z_.!:\[\]()\"'|@ -]{0,80})?\d{0,2}[ ]?",
    r"\{\{.{0,160}",
    r"\$[A-Za-z_]\w{0,63}\{[\"']?\w{1,63}[\"']?",
    r"\s{1,4}[+|%&]\s{1,4}[A-Za-z_(].{0,99}",
    r"(?:cat|echo|pass|gpg|aws|vault|gh|op|head|openssl|security|gcloud|az|kubectl|printf|bw)"
    r"(?: [\w$./~:=-]{1,80}){1,8}",
    r"<{1,2}[%=/|]?[ ]?[A-Za-z_][A-Za-z_ .:|'/@()-]{0,60}[ %]?",
    r"\[\[?[ ]?[A-Za-z][A-Za-z_ -]{1,40}[ ]?\]?",
    r"#\{[^}\n]{0,99}",
    r"@{1,2}[A-Za-z_]{2,40}",
    r"@[A-Za-z_][A-Za-z_.]{1,60}@",
    r"#[0-9a-fA-F]{6}",
    r":[a-z_]{2,40}",
    r"[*•●xX.…_?#]{3,64}",
    r"!(?:Ref|Sub|GetAtt|env|secret|vault|ENV)\b.{0,99}",
    r"(?:env|file|vault|op|ssm|arn|awssm|secretsmanager|azurekv|keyring|keychain|ref|id|type)[:=+]/{0,3}[A-Za-z_/.][\w./:@,=$-]{0,199}",
    r"(?i:(?:your|my|the|some|insert|replace|change|example|dummy|sample)[-_ ][a-z]{1,20}(?:[-_ ][a-z]{1,20}){0,5})",
    r"(?:\.{0,2}/)?[A-Za-z0-9_.@-]{1,64}(?:/[A-Za-z0-9_.@-]{1,64}){0,8}\.(?:pem|key|txt|json|ya?ml|toml|py|js|ts|crt|cer|env|cfg"
    r"|ini|conf|enc|gpg|age|p12|pfx|jks|md|html|sql|go|rs|java|rb|sh|asc|pub|properties)(?::\d{1,6})?",
    r"[a-z_]{2,32}(?:/[a-z_]{2,32}){2,8}",
    r"[(<\[]?(?i:not|none|no|nothing|never|still|left|to be|is|was|same as)(?:[ _-][a-z]{2,14}){1,4}",
    r"[(<\[]?(?i:n/a|n\.a\.?)",
    r"[(<\[](?i:not|none|no|un[a-z]{2,12}|never|nothing)",
)
_PLACEHOLDER = (
    r"(?:\$?\{(?:(?:await )?[A-Za-z_]{1,40}\d{0,2}(?:[.\[(][^{}\r\n]{0,60})?(?:![rsa])?(?::[^{}\r\n]{0,10})?)?\}"
    r"|%(?:\([A-Za-z_]{1,40}\))?[-+#0]?\d{0,2}[sdrfxi]|<[A-Za-z_][A-Za-z_ -]{1,24}>)"
)
_MADE = rf"(?:[\s:/_.,;|+@-]{{0,4}}{_PLACEHOLDER}){{1,8}}[\s:/_.,;|+@-]{{0,4}}"
"""A text that is put together when the program runs: `{prefix}-{suffix1}`, `%s%d`."""
_REFERENCE = "(?:" + "|".join((*_REFERENCES, _MADE)) + ")" + _CLOSERS
_NAME = r"[^\W\d_]{1,32}(?:[_.\-/: '\u2019|]{1,3}[^\W\d_]{1,32}){0,11}"
_HUMP = r"[A-Z]?[^\W\dA-Z_]+|[A-Z]+(?![a-z])"
_LETTERS_A_WORD = 3
_MASKED_WORD = "maskedvalue"
_SPEECH = (
    r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*[ ]?[.,:;!?…]{0,3}(?: [^\W\d_]+(?:['\u2019-][^\W\d_]+)*[ ]?[.,:;!?…]{0,3}){1,30}"
)
_OTHER_SCRIPT = r"[\u0370-\u1cff\u2e80-\ud7ff\uf900-\ufaff\uff10-\uffdc]"
_RANDOM_PART = r"(?=[!-~]{0,40}[0-9])(?=[!-~]{0,40}[A-Za-z])[!-~]{6}"
_PATTERN = (
    r"(?:\^?[^\s]{0,60}\[\^?(?:[A-Za-z0-9]-[A-Za-z0-9]|\\[wds])[^\s]{0,120}"
    r"|[a-z_]{2,24}(?:\|[a-z_]{2,24}(?::[a-z_0-9,]{1,24})?){1,12})"
)

_ROOTS = (
    "self|this|cls|super|base|os|sys|process|env|environ|config|configuration|cfg|conf|var|vars|local|locals|data|module"
    "|args|argv|options|opts|params|props|state|request|req|res|resp|response|ctx|context|settings|secrets|user|users"
    "|app|event|body|headers|session|credentials|client|server|account|input|output|each|values|node|parser|lexer|form"
    "|result|item|row|db|store|import|window|document|global|globalThis|crypto|uuid|random|string|std|http|fmt|json|core"
)
_PART = r"[A-Za-z_][A-Za-z_]{0,40}\d{0,3}"
_CHAIN = rf"{_PART}(?:(?:\.|->|::|\?\.|!\.){_PART}){{0,8}}"
_LEAD = r"[&*!(]{0,3}(?:(?:new|await|yield|not|typeof|async|lambda|mut|ref|function|fn|func|def|class|static)[ ]{1,2})?"
_CALLED = r"[A-Za-z_]\w{0,40}(?:(?:\.|->|::|\?\.)[A-Za-z_]\w{0,40}){0,8}!?"
_CODES = (
    rf"{_LEAD}{_CALLED}\((?:[^\n]{{0,{LINE}}}\)(?![A-Za-z0-9])|[ ]{{0,8}}\\?\Z|[^\n]{{0,{LINE}}}[,({{[]\s{{0,8}}\Z)",
    rf"{_LEAD}{_CHAIN}\??\[[^\]\n]{{0,80}}\](?![A-Za-z0-9])",
    rf"{_LEAD}(?:{_ROOTS})(?:(?:\.|->|::|\?\.|!\.){_PART}){{1,8}}(?![A-Za-z0-9])",
    rf"{_LEAD}{_PART}(?:->|::|\?\.){_CHAIN}(?![A-Za-z0-9])",
    r"[&*]{0,2}(?:'[a-z]+ )?[A-Z]\w{0,40}<[\w<>:, &'?|\[\].]{0,80}>",
    r"[&*]{1,2}(?:mut )?[A-Za-z_]{1,40}\d?(?:(?:\.|::)[A-Za-z_]{2,40}){0,4}(?=[\s,;)=]|\Z)",
    r"(?:u?int|float|Uint|Int|Float|Big[A-Z]int)\d{1,3}(?:_t|Array)?(?![A-Za-z0-9])",
    r"(?:Read|Get|New|ConvertTo|ConvertFrom|Import)-[A-Z][A-Za-z]{2,30}(?!\w)",
    r"\*?\[\][A-Za-z_.]{2,40}(?![A-Za-z0-9])",
    r"[a-z0-9_]{2,24}\.[A-Z][A-Za-z0-9]{0,40}(?:Key|Token|Secret|Password|Credentials?)(?!\w)",
    r"[A-Za-z_]{1,40}(?:\.[A-Za-z_]{1,40}){0,4}\._?[a-z_]{0,24}(?:key|token|secret|passw(?:or)?d|credentials?)(?![\w.@])",
    r"\((?:known after apply|sensitive(?: value)?)\)",
    r"\((?:[A-Za-z_][A-Za-z_.]{0,40}|\d{1,3}), ?[^)\n]{0,80}\)",
    r"[A-Za-z]{2,24}\?(?=[\s,;)=]|\Z)",
    r"[A-Za-z.]{2,40}(?:[ ]?\|[ ]?[A-Za-z.]{2,40}){1,5}(?=[\s,;)=\]}]|\Z)",
    r"(?:\([^()\n]{0,80}\)|[A-Za-z_]{1,40})[ ]?(?:=>|->)[ ]?\S",
)
_CODE = "(?:" + "|".join(_CODES) + ")"
_CODE_SIGN = r"[^\w\s,;'\"$%/@#=]|[Ii]nt|[Ff]loat"
"""One of these is in every expression and type."""
_VARIABLE = (
    r"!?_{0,2}(?:[A-Za-z]{2,30}\d{0,2}|[A-Za-z](?=_))"
    r"(?:(?:_{1,2}|\.|->|::)[A-Za-z]{1,30}\d{0,2}|_\d{1,3}){0,8}(?=[\s(\[):;,{&|\]]|\Z)"
)
_WORD_AND_DIGITS = r"[A-Za-z]+[0-9]+"
_SMALL_NUMBER = r"\d{1,3}(?=[\s):;,{&|\]]|\Z)"
_TYPE = (
    r"(?:(?:[a-z_]{2,24}\.)?[A-Z][A-Za-z]{2,30}\)|(?:[a-z]{1,10}\.)?(?:Optional|Union|List|Dict|Sequence|Mapping|Iterable"
    r"|Final|ClassVar|Annotated|Literal)\[|(?:str|bytes|int|bool|dict|list|None)(?: ?\| ?[\w.\[\]]{2,40}){1,4}"
    r"(?=[\s,)=]|\Z))"
)
_PARSED = (
    r"(?:(?:\A|[^a-z_])re\.[a-z]{2,12}|\.(?:encode|decode|[lr]?strip|split|replace|join|startswith|endswith|format"
    r"|remove(?:prefix|suffix)|r?find|index|push))\([bru]{0,2}f?\Z"
)
_ASKING = (
    r"(?:getpass|input|prompt|ask|askpass|question|readline|read_?password|password_input|secret_input)\(\[?[bru]?f?\Z"
)
_READING = r"(?:env|get[a-z_]{0,24}|fetch|lookup|read[a-z_]{0,16})\(\[?\Z"
_KEY_NAME = r"[A-Za-z][A-Za-z0-9_.-]{0,63}"
_PROSE = r"(?:[Aa]|[A-Za-z][a-z]{1,20})[,.]?[ ](?:[a-z]{1,20}|['\"`(<{$]|[a-z]+['\u2019]s)(?![A-Za-z0-9_@=:-])"


def harmless(value: str) -> bool:
    """Whether a value is none: nothing, a mark, a short bare word, a file path, a reference, the name of a secret."""
    if len(value) > WINDOW:
        return False
    if value.isalnum():
        if value.isascii() and not value.isalpha():
            return False
    elif len(value) <= PLAIN_LIMIT and not any(map(str.isalnum, value)):
        return True
    if compiled(WORD).fullmatch(value) or compiled(PATH).fullmatch(value):
        return True
    if "[MASKED:" in value:  # a key that is masked stays a word of the label that it was one of
        value = compiled(MASKED).sub(_MASKED_WORD, value)
    # Every reference has a sign, but for a row of crosses.
    signed = not value.isalnum() or not value.strip("xX")
    return (signed and bool(compiled(_REFERENCE).fullmatch(value))) or is_label(value)


def is_label(value: str) -> bool:
    """Whether a value says what a secret is called, or what to do with one: `DB_PASSWORD`, `Mot de passe`."""
    value = value.lstrip("_")
    if value.isascii() and compiled("[0-9]").search(value):
        return False
    value = value.strip(" \t*,;()")
    if value.lower() in _COMMON_WORDS:
        return True
    if compiled(_OTHER_SCRIPT).search(value):
        return not compiled(_RANDOM_PART).search(value)
    speech = compiled(_SPEECH).fullmatch(value)
    if not speech and not compiled(_NAME + r"[ ]?[.…!?:*]{0,3}").fullmatch(value):
        return False
    if speech and value[0].isupper() and value[-1] in ".?!…:":
        return True
    words = compiled(_HUMP).findall(value)
    if len("".join(words)) < _LETTERS_A_WORD * len(words):
        return False
    return any(word.lower() in _SECRET_WORDS for word in words)


def is_pattern(value: str) -> bool:
    """Whether a value is a regular expression, or a list of what a form checks: `required|min:8`."""
    return bool(compiled(_PATTERN).fullmatch(value))


def is_code(rest: str) -> bool:
    """Whether an unquoted value is an expression or a type.

    Args:
        rest: the line from the value on, at most `LINE` characters of it.
    """
    return bool(compiled(_CODE_SIGN).search(rest) and compiled(_CODE).match(rest))


def is_name(rest: str) -> bool:
    """Whether what stands behind an equals sign of code is a name: anything else there is in quotes."""
    return bool(compiled(_VARIABLE).match(rest))


def is_variable(rest: str) -> bool:
    """Whether what stands where code assigns or compares is a variable, which has words for a name.

    Args:
        rest: the line from the value on.
    """
    found = compiled(_VARIABLE).match(rest)
    # One word with a digit behind it, and nothing else of code around it, may as well be a password.
    return found is not None and (not compiled(_WORD_AND_DIGITS).fullmatch(found[0]) or rest[found.end() :][:1] > " ")


def is_type(rest: str) -> bool:
    """Whether a type stands there: `Optional[str]`, `str | None`, `Cookie)`."""
    return bool(compiled(_TYPE).match(rest))


def is_small(rest: str) -> bool:
    """Whether a number of up to three digits stands there."""
    return bool(compiled(_SMALL_NUMBER).match(rest))


def asks(call: str) -> bool:
    """Whether a call asks somebody for a secret, or takes one apart, so that the text in it is none: `getpass("…`."""
    call = call.rstrip("\"'`\\").lower()
    return bool(compiled(_ASKING).search(call) or compiled(_PARSED).search(call))


def reads(call: str, name: str) -> bool:
    """Whether a call reads a secret by its name: `environ.get("API_KEY2`."""
    words = compiled(_HUMP).findall(name) if compiled(_KEY_NAME).fullmatch(name) else []
    return any(word.lower() in _SECRET_WORDS for word in words) and bool(
        compiled(_READING).search(call.rstrip("\"'`\\").lower())
    )


def is_prose(rest: str) -> bool:
    """Whether an unquoted value is a word of a sentence: a word, and another one behind it."""
    return bool(compiled(_PROSE).match(rest))
