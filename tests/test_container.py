"""The Dockerfile, the compose file, nginx, the program and what is said about them agree.

That the image serves is another matter: .ci/plain-debian builds it and asks, which takes minutes.
"""

from __future__ import annotations

import json
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from anoncore.cli.command import COMMANDS
from anoncore.kernels import compiled_code
from dashboard.serving import settings

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
COMPOSE = (ROOT / "docs" / "deployment" / "compose.yaml").read_text("utf-8")
NGINX = (ROOT / "docs" / "deployment" / "nginx.conf").read_text("utf-8")
PAGE = (ROOT / "docs" / "pages" / "how-to" / "serve.md").read_text("utf-8")
SECTION = PAGE.split("\n## In a container\n")[1]
SERVICE = COMPOSE.split("\n  anoncore:\n")[1].split("\n  nginx:\n")[0]
CONSTRAINTS = [ROOT / "docs" / "deployment" / name for name in ("constraints.txt", "constraints-build.txt")]
KEYS = {key.variable: key for key in settings.all_keys()}
SECRETS = {"client_secret": "s" * 40, "cookie_secret": "c" * 40, "workspaces_key": "A" * 43 + "="}


def said(word: str) -> list[str]:
    """What the Dockerfile says by one instruction, each time with its lines joined."""
    lines = re.sub(r"\\\n\s*", "", DOCKERFILE).splitlines()
    return [line.partition(" ")[2].strip() for line in lines if line.startswith(f"{word} ")]


def image_variables() -> dict[str, str]:
    return dict(one.split("=", 1) for line in said("ENV") for one in line.split())


def composed_variables(**outside: str) -> dict[str, str]:
    """The variables of the server in the compose file, filled in as an engine does it."""

    def value(match: re.Match[str]) -> str:
        name, kind, default = match.groups()
        if name in outside:
            return outside[name]
        assert kind == ":-", f"{name} must be set: {default}"
        return default

    found = dict(re.findall(r"^ {6}(\w+): (.+)$", SERVICE.split("environment:\n")[1], re.MULTILINE))
    return {name: re.sub(r"\$\{(\w+)(:[?-])([^}]*)\}", value, text) for name, text in found.items()}


def shown_variables() -> dict[str, str]:
    """The file .env as the documentation shows it."""
    block = SECTION.split('title="docs/deployment/.env"\n')[1].split("```")[0]
    return dict(line.strip().split("=", 1) for line in block.strip().splitlines())


def uid() -> str:
    (found,) = re.findall(r"useradd --uid (\d+)", DOCKERFILE)
    return found


def test_it_is_built_in_stages_and_runs_without_rights() -> None:
    stages = said("FROM")
    assert len(stages) == 2
    assert stages[0].endswith(" AS wheel")
    assert all("/" not in stage for stage in stages), "no registry is named"
    text = DOCKERFILE.split("\nFROM ")[2]
    assert "COPY --from=wheel " in text
    assert re.findall(r"^COPY (?!--from)", text, re.MULTILINE) == [], "sources stay in the first stage"
    (user,) = said("USER")
    assert f"useradd --uid {uid()} --user-group" in text
    assert f"-o {user} -g {user}" in text
    # Whatever is installed belongs to root, so the steps that install come first.
    assert "RUN" not in text.split("\nUSER ")[1]


def test_the_build_gets_what_the_wheel_is_made_of() -> None:
    copied = [name for line in said("COPY") if not line.startswith("--from") for name in line.split()[:-1]]
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    forced = re.findall(r'^"([^"]+)" = "anoncore/', project, re.MULTILINE)
    needed = {"pyproject.toml", "README.md", "LICENSE", "anoncore", *(name.split("/")[0] for name in forced)}
    needed |= {path.relative_to(ROOT).as_posix() for path in CONSTRAINTS}
    assert set(copied) == needed
    rules = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line and line[0] != "#"]
    for name in [*needed - {".streamlit"}, ".streamlit/config.toml"]:
        assert (ROOT / name).exists()
        last = [rule for rule in rules if fnmatch(name, rule.removeprefix("!").removeprefix("**/"))][-1]
        assert last.startswith("!"), f".dockerignore keeps {name} from the build."


def test_only_what_is_known_by_its_content_is_installed() -> None:
    installs = [one for line in said("RUN") for one in line.split("&&") if "pip install" in one]
    assert len(installs) == 3
    for one in installs:
        assert "--require-hashes" in one or "--no-index /wheels/anoncore-" in one
        assert "--no-deps" in one
    assert "--no-build-isolation" in DOCKERFILE, "a build of its own would fetch what it likes"
    for path in CONSTRAINTS:
        text = path.read_text("utf-8")
        assert "://" not in text, "no registry is named"
        lines = [line for line in re.sub(r" \\\n\s*", " ", text).splitlines() if not line.startswith("#")]
        for line in lines:
            assert re.fullmatch(r"[a-z0-9-]+==\S+( --hash=sha256:[0-9a-f]{64})+", line), line


def test_the_constraints_fit_what_the_program_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    asked = [*project["project"]["dependencies"], *extras["serve"]]
    asked += [one for name in ("learn", "excel", "report", "plot", "dashboard") for one in extras[name]]
    asked = [one for one in asked if not one.startswith("anoncore[")]
    for path, requirements in zip(CONSTRAINTS, (asked, project["build-system"]["requires"]), strict=True):
        pinned = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", path.read_text("utf-8"), re.MULTILINE))
        for text in requirements:
            one = Requirement(text)
            name = canonicalize_name(one.name)
            assert name in pinned, f"{name} is missing in {path.name}; its first lines say how to renew it."
            assert one.specifier.contains(pinned[name]), f"{path.name} has {name} {pinned[name]}, asked for is {text}."


def test_the_variables_of_the_image_are_settings_and_let_others_reach_it() -> None:
    variables = image_variables()
    own = {name: value for name, value in variables.items() if name.startswith("ANONCORE_")}
    found = settings.read(variables=own)
    assert found.server.address == "0.0.0.0"
    assert said("EXPOSE") == [str(found.server.port)]
    assert found.metrics.address in settings.LOCAL_HOSTS
    (health,) = said("HEALTHCHECK")
    command = json.loads(health.split(" CMD ")[1])
    assert "ANONCORE_METRICS_PORT" in command[2]
    assert found.metrics.port > 0
    compile(command[2], "HEALTHCHECK", "exec")


def test_the_compiled_code_is_found_where_the_server_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    place = image_variables()["NUMBA_CACHE_DIR"]
    (filled,) = re.findall(r"NUMBA_CACHE_DIR=(\S+) anoncore (\S+)", DOCKERFILE)
    assert filled[1] in COMMANDS
    entry = json.loads(said("ENTRYPOINT")[0])
    assert f'cp -R {filled[0]}/. "$NUMBA_CACHE_DIR" && exec anoncore "$@"' == entry[2]
    assert json.loads(said("CMD")[0])[0] in COMMANDS
    # The folder below the variable is the same at both places.
    for folder in (filled[0], place):
        monkeypatch.setenv("NUMBA_CACHE_DIR", folder)
        assert compiled_code.root() == Path(folder) / "anoncore"


def test_the_settings_of_the_compose_file_can_be_meant_so(tmp_path: Path) -> None:
    pytest.importorskip("authlib", reason="the sign-in needs the extra 'serve'")
    variables = image_variables() | composed_variables(**shown_variables())
    for name, value in variables.items():
        if name.endswith("_FILE") and name != "ANONCORE_AUDIT_FILE":
            assert KEYS[name.removesuffix("_FILE")].is_secret
            secret = Path(value).name
            assert value == f"/run/secrets/{secret}"
            (tmp_path / secret).write_text(SECRETS[secret], "utf-8")
            variables[name] = str(tmp_path / secret)
    folder = variables["ANONCORE_WORKSPACES_FOLDER"]
    assert f" {folder} " in DOCKERFILE
    (tmp_path / folder[1:]).mkdir(parents=True, mode=0o700)
    for name in ("ANONCORE_WORKSPACES_FOLDER", "ANONCORE_AUDIT_FILE"):
        variables[name] = f"{tmp_path}{variables[name]}"
    found = settings.read(variables={name: value for name, value in variables.items() if name.startswith("ANONCORE_")})
    assert found.has_sign_in
    assert found.hosts == ("office.example.org",)
    assert found.rights.upload == ("*@example.org",)


def test_each_variable_of_the_compose_file_is_a_setting_and_no_secret() -> None:
    for name in composed_variables(**shown_variables()):
        key = KEYS.get(name) or KEYS[name.removesuffix("_FILE")]
        assert name.endswith("_FILE") or not key.is_secret, f"{name} would show a secret."
    named = set(re.findall(r"`(ANONCORE_\w+)`", SECTION))
    assert named >= {name for name in image_variables() if name.startswith("ANONCORE_")}
    assert named <= set(KEYS)


def test_what_must_be_writable_is_the_same_everywhere() -> None:
    (kept,) = json.loads(said("VOLUME")[0])
    cache = image_variables()["NUMBA_CACHE_DIR"]
    told = re.findall(r"^\| `(/\S+)` \|", SECTION, re.MULTILINE)
    assert told == [kept, cache, "/tmp"]
    assert "read_only: true" in SERVICE
    assert f"- kept:{kept}\n" in SERVICE
    assert f"- {cache}:uid={uid()},gid={uid()},mode=0700\n" in SERVICE
    assert "- /tmp:" in SERVICE
    assert re.search(rf"install -d -m 0700 .* {kept} .*{cache}$", DOCKERFILE, re.MULTILINE)
    assert f"`anoncore` ({uid()})" in SECTION
    assert f"chown {uid()}" in SECTION


def test_nginx_asks_the_server_as_the_documentation_says() -> None:
    page = PAGE.split('title="/etc/nginx/conf.d/anoncore.conf"\n')[1].split("```")[0]
    own = {"proxy_pass", "server_name", "ssl_certificate", "ssl_certificate_key"}

    def lines(text: str) -> list[str]:
        return [line for line in text.splitlines() if line.strip()[:1] != "#" and (line.split() or [""])[0] not in own]

    assert lines(NGINX) == lines(page)
    variables = image_variables() | composed_variables(**shown_variables())
    assert f"proxy_pass http://anoncore:{variables['ANONCORE_SERVER_PORT']};" in NGINX
    assert f"location /{variables['ANONCORE_SERVER_BASE_PATH']}/ {{" in NGINX
    most = int(re.findall(r"client_max_body_size (\d+)m;", NGINX)[0])
    assert most == int(variables["ANONCORE_SERVER_UPLOAD_MEGABYTES"]) + 2
    mounted = re.findall(r"- \./certificates:(/\S+):ro", COMPOSE)
    for name in ("chain.pem", "key.pem"):
        assert f"{mounted[0]}/{name};" in NGINX
        assert f"`{name}`" in SECTION


def test_only_nginx_is_reached_from_outside() -> None:
    assert "ports:" not in SERVICE
    assert re.findall(r'^ {6}- "(\d+:\d+)"$', COMPOSE, re.MULTILINE) == ["443:443"]
    assert "listen 443 ssl;" in NGINX


def test_no_container_has_rights_that_it_does_not_need() -> None:
    services = re.split(r"\n  (?=\w+:\n)", COMPOSE.split("\nservices:\n")[1].split("\nsecrets:\n")[0])
    assert len(services) == 2
    for service in services:
        for line in ("read_only: true", "cap_drop: [ALL]", 'security_opt: ["no-new-privileges:true"]'):
            assert f"    {line}\n" in service
    added = [set(found.split(", ")) for found in re.findall(r"cap_add: \[(.+)\]", COMPOSE)]
    assert added == [{"CHOWN", "NET_BIND_SERVICE", "SETGID", "SETUID"}]


@pytest.mark.slow
def test_the_compose_file_is_whole() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed; the extra 'docs' brings it")
    whole: dict[str, Any] = yaml.safe_load(COMPOSE)
    service = whole["services"]["anoncore"]
    assert (ROOT / "docs" / "deployment" / service["build"] / "Dockerfile").is_file()
    assert set(service["secrets"]) == set(whole["secrets"]) == set(SECRETS)
    assert {one.partition(":")[0] for one in service["volumes"]} == set(whole["volumes"])
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    for name, secret in whole["secrets"].items():
        assert secret["file"] == f"./secrets/{name}"
        assert f"`{name}`" in SECTION
    assert {f"docs/deployment/{name}" for name in (".env", "secrets/", "certificates/")} <= set(ignored)
