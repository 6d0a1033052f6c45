"""Token shapes of code hosts, package registries, builds, observability and work tools."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from tests.payload.secret_corpus_three.draw import Draw, with_checksum


def pypi(draw: Draw) -> str:
    """A macaroon: its head says pypi.org, so every token begins alike."""
    head = b"\x02\x01\x08pypi.org\x02" + bytes([36]) + draw.uuid().encode() + b"\x00\x02"
    return "pypi-" + base64.urlsafe_b64encode(head + draw.randbytes(90)).decode().rstrip("=")


def sentry_org(draw: Draw) -> str:
    inner = {
        "iat": draw.randint(1_690_000_000, 1_760_000_000) + 0.5,
        "url": "https://sentry.io",
        "region_url": "https://us.sentry.io",
        "org": "acme",
    }
    text = json.dumps(inner, separators=(",", ":")).encode()
    return "sntrys_" + base64.b64encode(text).decode() + "_" + draw.base64(32).rstrip("=")


def grafana_cloud(draw: Draw) -> str:
    inner = {"o": draw.fill("[d6]"), "n": "stack-write", "k": draw.fill("[a24]"), "m": {"r": "eu"}}
    return "glc_" + base64.b64encode(json.dumps(inner, separators=(",", ":")).encode()).decode()


SHAPES: dict[str, str | Callable[[Draw], str]] = {
    # GitHub "Behind GitHub's new authentication token formats" (prefix, CRC-32); gitleaks github-*.
    "github-pat": lambda d: "ghp_" + with_checksum(d.chars("a", 30)),
    "github-oauth": lambda d: "gho_" + with_checksum(d.chars("a", 30)),
    "github-user-to-server": lambda d: "ghu_" + with_checksum(d.chars("a", 30)),
    "github-server-to-server": lambda d: "ghs_" + with_checksum(d.chars("a", 30)),
    "github-refresh": lambda d: "ghr_" + with_checksum(d.chars("a", 70)),
    "github-fine-grained-pat": "github_pat_11[u9]0[a10]_[a59]",
    # GitLab "Token prefixes"; gitleaks gitlab-*.
    "gitlab-pat": "glpat-[w20]",
    "gitlab-pat-routable": "glpat-[w40].01.[l9]",
    "gitlab-feature-flag": "glffct-[w20]",
    "gitlab-runner-registration": "GR1348941[w20]",
    "gitlab-deploy": "gldt-[w20]",
    "gitlab-runner": "glrt-[w20]",
    "gitlab-ci-job": "glcbt-[h2]_[w20]",
    "gitlab-trigger": "glptt-[h40]",
    "gitlab-feed": "glft-[w20]",
    "gitlab-incoming-mail": "glimt-[l25]",
    "gitlab-scim": "glsoat-[w20]",
    "gitlab-agent": "glagent-[w50]",
    "gitlab-oauth-app": "gloas-[h64]",
    # Atlassian: gitleaks atlassian-api-token; the documentation of Bitbucket's app passwords and access tokens.
    "atlassian-api-token": "ATATT3xFfGF0[w171]=[H8]",
    "bitbucket-app-password": "ATBB[a24][H8]",
    "bitbucket-access-token": "ATCTT3xFfGN0[w171]=[H8]",
    # Registries: gitleaks npm-, pypi-, rubygems-, clojars-, artifactory-*; Nosey Parker crates.io, nuget, dockerhub.
    "npm-token": lambda d: "npm_" + with_checksum(d.chars("a", 30)),
    "pypi-token": pypi,
    "rubygems-key": "rubygems_[h48]",
    "crates-io-token": "cio[a32]",
    "nuget-key": "oy2[l43]",
    "docker-hub-pat": "dckr_pat_[w27]",
    "clojars-token": "CLOJARS_[l60]",
    "artifactory-api-key": "AKCp[a69]",
    "artifactory-reference-token": "cmVmd[a59]",
    # Builds: Kingfisher circleci.1 and .3, buildkite.1; gitleaks octopus-, harness-, sourcegraph-, prefect-,
    # infracost-; SonarQube's token prefixes.
    "circleci-pat": "CCIPAT_[a22]_[h40]",
    "circleci-project": "CCIPRJ_[a22]_[h40]",
    "buildkite-token": "bkua_[h40]",
    "octopus-key": "API-[u26]",
    "harness-pat": "pat.[w22].[h24].[a20]",
    "sourcegraph-token": "sgp_[h16]_[h40]",
    "sonarqube-user": "squ_[h40]",
    "sonarqube-project": "sqp_[h40]",
    "prefect-key": "pnu_[a36]",
    "infracost-key": "ico-[a32]",
    "postman-key": "PMAK-[h24]-[h34]",
    # Observability: gitleaks dynatrace-, new-relic-, grafana-, sentry-*; Kingfisher posthog.2; New Relic's,
    # Honeycomb's, Axiom's and LaunchDarkly's documentation.
    "dynatrace-token": "dt0c01.[s24].[s64]",
    "newrelic-user-key": "NRAK-[u27]",
    "newrelic-insert-key": "NRII-[w32]",
    "newrelic-license-key": "[h36]NRAL",
    "grafana-service-account": "glsa_[a32]_[h8]",
    "grafana-cloud-token": grafana_cloud,
    "sentry-org-token": sentry_org,
    "sentry-user-token": "sntryu_[h64]",
    "posthog-personal": "phx_[a47]",
    "honeycomb-ingest-key": "hcaik_[l58]",
    "axiom-api-token": "xaat-[U]",
    "launchdarkly-api-token": "api-[U]",
    # Work tools: gitleaks linear-, notion-, readme-, typeform-, airtable-, maxmind-, frameio-, adobe-, intra42-*;
    # Figma's, Contentful's, Asana's documentation.
    "figma-pat": "figd_[w40]",
    "linear-key": "lin_api_[a40]",
    "notion-token": "ntn_[d11][a35]",
    "airtable-pat": "pat[a14].[h64]",
    "asana-pat": "2/[d16]/[d16]:[h32]",
    "typeform-token": "tfp_[a44]_[a14]",
    "readme-key": "rdme_[l70]",
    "contentful-management": "CFPAT-[w43]",
    "maxmind-licence": "[a6]_[a29]_mmk",
    "frameio-token": "fio-u-[w64]",
    "adobe-client-secret": "p8e-[w32]",
    "intra42-secret": "s-s4t2ud-[h64]",
    "authress-key": "sc_[l24].[l4].acc_[l16].[w60]",
}
