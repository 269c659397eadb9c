"""The kinds of secrets that are masked: one table, from which the code, its tests and the README's list are made.

The tokens of a kind are in `ROWS`. A kind of priority 1 is masked before anything is stored, each other one wherever
it is shown or exported. Each kind has an example, and a text that comes near to it and stays as it is.
"""

from __future__ import annotations

import re

from orchestrator.core import masking_tables as tables
from orchestrator.core.masking_tables import BEHIND

# The rows of the table in their order; a character that several cover belongs to the first.
KEEP, REGISTERED, ANTHROPIC, OPENAI, PRIVATE, API, AUTH, SET_COOKIE, COOKIE, JWT = range(10)
JSON, ENV, BEARER, URL, GENERIC = range(10, 15)


ROWS = (
    ("", 0),
    ("[MASKED:API_KEY]", 1),
    ("[MASKED:ANTHROPIC_KEY]", 1),
    ("[MASKED:OPENAI_KEY]", 1),
    ("[MASKED:PRIVATE_KEY]", 1),
    ("[MASKED:API_KEY]", 1),
    ("[MASKED:AUTH_HEADER]", 2),
    ("[MASKED:SET_COOKIE]", 2),
    ("[MASKED:COOKIE]", 2),
    ("[MASKED:JWT]", 2),
    ("[MASKED:JSON_CREDENTIAL]", 3),
    ("[MASKED:ENV_CREDENTIAL]", 3),
    ("[MASKED:BEARER_TOKEN]", 3),
    ("[MASKED:GENERIC_SECRET]", 3),
    ("[MASKED:GENERIC_SECRET]", 4),
)
"""What stands in for a secret of each row, and its priority (1 to 4; 0 for what is masked already)."""

_MIXED = "q7Zt9LmX2vB8nR4kW3sD6fGhJ5pYcA1eUo0TiKzVbNxMrEwSdHlPgQjFyCu8"
_HEX = "7f3a9c1e5b2d8046"


def _mixed(length: int) -> str:
    return (_MIXED * 4)[:length]


def _hex(length: int) -> str:
    return (_HEX * 8)[:length]


class Kind:
    """One kind of secret.

    ``found`` holds one, which is put into braces; ``innocent`` comes near to it and stays as it is. ``marks``: what an
    issuer's keys begin with; empty where a pattern of its own finds the kind.
    """

    __slots__ = ("found", "innocent", "marks", "name", "row")

    def __init__(self, name: str, row: int, found: str, innocent: str, marks: tuple[str, ...] = ()) -> None:
        self.name, self.row, self.found, self.innocent, self.marks = name, row, found, innocent, marks

    @property
    def token(self) -> str:
        """What is shown instead."""
        return ROWS[self.row][0]

    @property
    def priority(self) -> int:
        """1 to 4, as in the table of the specification."""
        return ROWS[self.row][1]

    @property
    def stored_masked(self) -> bool:
        """Whether it is masked before it is stored; else where it is shown."""
        return self.priority == 1


def _issued(name: str, marks: str, least: int, innocent: str, example: str) -> Kind:
    """Keys that an issuer marks; the example has the first mark."""
    begins = tuple(marks.split())
    before, _, body = example.rpartition("|")
    body = _made_up(body) or _mixed(max(least, 40))
    found = f"{begins[0]}{{{body}}}" if begins[0].endswith(BEHIND) else f"{{{begins[0]}{body}}}"
    return Kind(name, API, f"{before or 'key '}{found} is set", innocent, begins)


def _made(wanted: re.Match[str]) -> str:
    """So many characters of a kind."""
    made = (_hex if wanted[1] == "hex" else _mixed)(int(wanted[2]))
    return made.upper() if wanted[1].isupper() else made


def _made_up(example: str) -> str:
    return re.sub("<([a-zA-Z]+) ([0-9]+)>", _made, example)


ISSUED = tuple(
    _issued(name, marks, least, innocent, example) for name, marks, _, least, _, innocent, example in tables.ISSUED
)
"""Keys that are known by the mark of their issuer."""

BESIDE = tuple(
    Kind(
        name,
        GENERIC,
        f"the {issuers.split()[0]} key is {{{_made_up(example)}}}, ok",
        f"{_made_up(example)} is no key by itself, nor is {_hex(40)} of {issuers.split()[0]}",
    )
    for name, issuers, _, example in tables.BESIDE
)
"""Keys that have no mark of their issuer, and are known by the name before them."""

_BLOCK = "-----BEGIN PRIVATE KEY-----\\n" + _mixed(64) + "\\n-----END PRIVATE KEY-----"

KINDS = (
    Kind(
        "Value of a registered environment variable",
        REGISTERED,
        "say {open-sesame-1}, also {b3Blbi1zZXNhbWUtM}Q==",
        "say open-sesam",
    ),
    Kind("Anthropic key", ANTHROPIC, f"key {{sk-ant-api03-{_mixed(40)}}}", "sk-ant-api"),
    Kind("OpenAI key", OPENAI, f"key {{sk-proj-{_mixed(40)}}}", "git branch sk-refactor-the-login-page-again"),
    Kind("Private key block", PRIVATE, f"{{{_BLOCK}}}", "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----"),
    Kind(
        "PuTTY private key",
        PRIVATE,
        f"Private-Lines: 1\n{{{_mixed(60)}}}\nPrivate-MAC: 7f3a",
        "Private-Lines: 1\nPrivate-MAC: 7f3a",
    ),
    Kind("Google key", API, f"{{AIza{_mixed(35)}}}", "AIza"),
    Kind("AWS access key id", API, "{AKIA2345ABCDEFGHIJKL} {ASIA2345ABCDEFGHIJKL}", "AKIAEXAMPLE"),
    Kind("Slack token", API, "{xoxb-123456789012-1234567890123-AbCdEfGhIjKl}", "xoxo-hugs-and-kisses"),
    *ISSUED,
    *BESIDE,
    Kind(
        "Authorization header",
        AUTH,
        "Authorization: Basic {dXNlcjpwYXNz}\nHost: h",
        "Authorization: the process by which",
    ),
    Kind(
        "Authorization header, folded",
        AUTH,
        "Authorization: Basic\r\n {dXNlcjpwYXNz}\r\nHost: h",
        "Authorization:\n- first\n- second",
    ),
    Kind("Set-Cookie header", SET_COOKIE, "Set-Cookie: {a=b; Path=/; HttpOnly}\nx", "Set-Cookie: yes"),
    Kind("Cookie header", COOKIE, "Cookie: {a=b; c=d}\nx", "cookie: yes"),
    Kind("Cookie header, folded", COOKIE, "Cookie: {a=b;\n c=d}\nx", "cookie: yes\n  no"),
    Kind(
        "JSON web token",
        JWT,
        f"got {{eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.{_mixed(43)}}}",
        "eyJhbGciOiJIUzI1NiJ9 alone",
    ),
    Kind(
        "Credential in JSON",
        JSON,
        '{{"password": "{hunter2hunter2}", "n": 1}}',
        '{{"password": "Mot de passe", "token": true}}',
    ),
    Kind("Credential in an environment", ENV, "export X_TOKEN='{a b1}' y", "export X_TOKEN=$OTHER_TOKEN"),
    Kind("Bearer token", BEARER, "bearer {a1b2c3}.", "the bearer of bad news"),
    Kind(
        "Bearer token that code joins to its word",
        BEARER,
        "h['Authorization'] = 'Bearer ' + '{q7Zt9LmX2vB8}'",
        "h['Authorization'] = 'Bearer ' + token; 'Bearer ' + 'token'; \"Bearer \" . $token",
    ),
    Kind("Password in a URL", URL, "mongodb://user:{pa`s/s#9@9}@host:1/db", "http://localhost:3000/a?b=c@d"),
    Kind(
        "Token in a URL",
        URL,
        f"https://{{{_mixed(12)}}}@host/x",
        "https://user@host/ ssh://git@host git@github.com:o/r.git mailto:a@b.c",
    ),
    Kind(
        "Password, secret or token behind its name",
        GENERIC,
        "password: {hunter2}, secret = '{x y}'",
        "password: required, secret = None",
    ),
    Kind(
        "Password in .netrc",
        GENERIC,
        "machine h\n  login u\n  password {s3cret-word}\n",
        "login with password authentication",
    ),
    Kind(
        "Password behind a long option",
        GENERIC,
        "tool --token {q7Zt9LmX2vB8} --password {correcthorse} /x",
        "tool --token $TOKEN --password-stdin; pass --token to log in",
    ),
    Kind(
        "Password behind a short option",
        GENERIC,
        "mysql -u root -p{q7Zt9} db",
        "mkdir -p a1/b2; patch -p1; docker run -p 8080:80 x1",
    ),
    Kind(
        "User and password behind a short option",
        GENERIC,
        "curl -s -u user:{q7Zt9} https://h",
        "python -u a:b1.py; curl -u user:$PASS",
    ),
    Kind(
        "User and password behind a long option",
        GENERIC,
        "curl --user bob:{q7Zt9} https://h",
        "docker run --user 1000:1000 img; curl --user bob h; curl --user $U:$P h",
    ),
    Kind(
        "Cookies behind an option",
        COOKIE,
        "curl -s -b '{sid=q7Zt9LmX; a=b}' h; curl --cookie {sid=q7Zt9LmX} h",
        'curl -b jar.txt -c jar.txt h; curl -b "sid=$SID" h; grep -b a=b1 x',
    ),
    Kind(
        "Password as an argument",
        GENERIC,
        "htpasswd -nbB admin {q7Zt9LmX} > f\nnet use Z: \\\\s\\c$ {q7Zt9LmX} /user:u",
        "htpasswd -c f admin\nnet use Z: \\\\s\\share9 /user:u\nthe net use of 2 is small",
    ),
    Kind(
        "Password that a database is told",
        GENERIC,
        "CREATE USER u IDENTIFIED BY '{q7Zt9LmX}'; ALTER ROLE r WITH PASSWORD '{q7Zt 9LmX}';",
        "CREATE USER u IDENTIFIED BY ''; ALTER ROLE r WITH PASSWORD NULL;",
    ),
    Kind(
        "Password of an Oracle logon",
        GENERIC,
        "sqlplus -s scott/{q7Zt9LmX}@orcl\njdbc:oracle:thin:scott/{q7Zt9LmX}@host:1521/x",
        "sqlplus /nolog; sqlplus / as sysdba; sqlplus scott@orcl a/b@c; jdbc:oracle:thin:@host:1521/x",
    ),
    Kind(
        "Password in .pgpass",
        GENERIC,
        "db.example.org:5432:app:bob:{q7Zt9LmX}\n*:*:*:bob:{q7Zt9LmX}",
        "10:20:30:40:50\nlisten at db:5432: a:b:c1d2\n2026-01-01T10:54:32:5432:x\n",
    ),
    Kind(
        "Password behind its prompt",
        GENERIC,
        "Enter passphrase: {xyz}\nEnter passphrase for key '/u/id_rsa': {q7Zt9LmX}\npassword for bob: {q7Zt9LmX}\n",
        "Enter passphrase: \nEnter passphrase (empty for none): \npassword for bob: required",
    ),
    Kind(
        "Key in a sentence that names it",
        GENERIC,
        f"the api key is {{{_hex(40)}}}, our secret key was set to {{{_mixed(32)}}}; the token is `{{{_mixed(24)}}}`",
        f"the commit is {_hex(40)}, the primary key is {_hex(40)}, the api key id {_hex(40)}; the token is 40 long",
    ),
    Kind(
        "Data of a Kubernetes secret",
        GENERIC,
        "kind: Secret\nmetadata:\n  name: x\ndata:\n  {a: cTdadDlMbVgydkI4\n  b: YjI=}\ntype: Opaque\n",
        "kind: Secret\ndata:\n  a: $A1\n---\nkind: ConfigMap\ndata:\n  a: cTdadDlMbVgydkI4\n",
    ),
    Kind(
        "Password that a command reads from another",
        GENERIC,
        "gpg --passphrase-file <(echo {q7Zt9LmX}) -d f; openssl enc -pass file:<(printf %s '{q7 Zt9}') -in f\n",
        "diff <(echo a1b2) <(echo c3d4); gpg --passphrase-file <(cat key1.txt) f; x --password-file <(echo $PASS1)\n",
    ),
    Kind(
        "Password in the input of a command",
        GENERIC,
        "docker login --password-stdin <<< {q7Zt9LmX}\nsudo -S ls <<EOF\n{q7Zt9LmX}\nEOF\nls",
        "docker login --password-stdin <<EOF\n$PASSWORD\nEOF\ncat <<END > f1\nq7Zt9LmX\nEND\n",
    ),
    Kind(
        "Password that is written into a command",
        GENERIC,
        "echo '{q7Zt 9LmX}' | sudo -S ls\necho bob:{q7Zt9LmX} | chpasswd\n",
        "echo $PASS1 | docker login --password-stdin\necho q7Zt9LmX | sha256sum\n",
    ),
    Kind(
        "Password in a sentence",
        GENERIC,
        "A password is generated for root@localhost: {q7Zt9;X!a}\nYour password is {q7Zt9LmX}.\n",
        "The password is 8 characters long. The password is sha256.",
    ),
    Kind(
        "Password behind its name in another script",
        GENERIC,
        "パスワードは「{q7Zt9LmX}」です",
        "パスワード: 8文字以上 トークン: 1234 パスワード: 未設定",
    ),
    Kind(
        "Password behind its name in another language",
        GENERIC,
        "Kennwort: {q7Zt9LmX}\nMot de passe : {q7Zt9LmX}\ncontraseña={q7Zt9LmX}\nlösenord: {q7Zt9LmX}",
        "Kennwort: erforderlich\nMot de passe oublié : écrivez-nous\nela desenha: 12a3",
    ),
    Kind(
        "Password behind a short name",
        GENERIC,
        "DB_PW: {q7Zt9LmX}, tool --pw {q7Zt9LmX} && plink -pw {q7Zt9LmX} h",
        "pw = playwright; with x as pw: y1; ps -pw 123; pwm=1",
    ),
    Kind(
        "Secret that a command stores in settings",
        GENERIC,
        "aws configure set aws_secret_access_key {q7Zt9LmX2vB8}",
        "aws configure set region eu-west-1; config set token $TOKEN",
    ),
    Kind(
        "Registry login in a Docker configuration",
        JSON,
        '{{"auths": {{"registry.example": {{"auth": "{dXNlcjE6cTdadDlMbVgydkI4}"}}}}}}',
        '{{"auth": "required", "oauth": "client"}} {{"auth": {{"type": "basic"}}}}',
    ),
    Kind(
        "Key in a kubeconfig",
        GENERIC,
        f"    client-key-data: {{{_mixed(60)}}}\n",
        "    client-key-data: null\n    certificate-authority: /etc/ca.crt\n",
    ),
    Kind(
        "Secret in a Dockerfile",
        GENERIC,
        "FROM scratch\nENV DB_PASSWORD {q7Zt9LmX}\n",
        "ENV DB_PASSWORD_FILE /run/secrets/db\nENV TOKEN_NAME token\n",
    ),
    Kind(
        "Secret that a command stores with a service",
        GENERIC,
        "gh secret set DEPLOY --body {q7Zt9LmX}\n",
        "gh secret set DEPLOY --body $DEPLOY\nusage: x [--token TOKEN]\n",
    ),
    Kind(
        "Login in an environment",
        ENV,
        "REDIS_AUTH={q7Zt9LmX2vB8}\n",
        "HTTP_AUTH=basic USE_AUTH=true oauth_auth: enabled MQ_AUTH=$AUTH",
    ),
    Kind(
        "Registry login in a Kubernetes secret",
        GENERIC,
        "data:\n  .dockerconfigjson: {eyJhdXRocyI6eyJnaGNyLmlvIjp7ImF1dGgiOiJkVH}\n",
        "type: kubernetes.io/dockerconfigjson\n  .dockerconfigjson: ~\n",
    ),
    Kind(
        "Secret value in Terraform's state",
        JSON,
        '"db_password": {{\n  "value": "{q7Zt9LmX}",\n  "type": "string"\n}},\n'
        '"admin": {{"value": "{q7Zt9LmX}", "type": "string", "sensitive": true}}',
        '"password_length": {{"value": "12"}}, "db_name": {{"value": "app1", "type": "string", "sensitive": false}}',
    ),
    Kind("Registry login in .npmrc", GENERIC, "_auth={dXNlcjpwYXNz}", "basic_auth=user1 _auth = True"),
    Kind(
        "Value in a property list",
        GENERIC,
        "<key>apiToken</key>\n<string>{q7Zt9LmX}</string>",
        "<key>TokenName</key>\n<string>Token</string>",
    ),
    Kind(
        "Default of a Terraform variable",
        GENERIC,
        'variable "db_password" {{\n  default = "{q7Zt9LmX}"\n}}',
        'variable "db_password" {{\n  default = ""\n}}',
    ),
    Kind(
        "Changed secret in a Terraform plan",
        GENERIC,
        '~ password = "{old9Pass}" -> "{new9Pass}"',
        '~ name = "old9" -> "new9"',
    ),
    Kind("Password in XML", GENERIC, "<password>{q7Zt9LmX}</password>", "<password>Passwort</password>"),
    Kind(
        "Block scalar in YAML",
        GENERIC,
        "a:\n  password: |\n    {q7Zt9LmX\n    2vB8}\n  b: 1\n",
        "a:\n  password: |\n  b: 1\n",
    ),
    Kind(
        "Azure shared access signature",
        GENERIC,
        f"?sv=2022-11-02&sig={{{_mixed(40)}%3D}}&se=2030",
        "sig=int sig=SIGTERM ?sig=none",
    ),
    Kind(
        "Azure account key",
        GENERIC,
        f"AccountName=a;AccountKey={{{_mixed(40)}==}};EndpointSuffix=e",
        "AccountName=a;AccountKey=none",
    ),
)
"""All kinds. In ``found`` what is masked stands in braces, and a brace itself is doubled."""
