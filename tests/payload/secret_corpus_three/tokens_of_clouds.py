"""Token shapes of clouds, hosting, databases as a service and stores of secrets."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from tests.payload.secret_corpus_three.draw import Draw, with_checksum


def bedrock_key(draw: Draw) -> str:
    inner = draw.fill("BedrockAPIKey-[l4]-at-[d12]:") + draw.base64(36)
    return "ABSK" + base64.b64encode(inner.encode()).decode()


def onepassword_service_account(draw: Draw) -> str:
    inner = {
        "email": draw.fill("[l13]@1passwordserviceaccounts.com"),
        "muk": {"alg": "A256GCM", "k": draw.base64url(32), "kty": "oct", "kid": "mp"},
        "secretKey": draw.fill("A3-[u6]-[u6]-[u5]-[u5]-[u5]-[u5]"),
        "deviceUuid": draw.fill("[l26]"),
    }
    return "ops_" + base64.b64encode(json.dumps(inner).encode()).decode()


SHAPES: dict[str, str | Callable[[Draw], str]] = {
    # Amazon: gitleaks aws-access-token and aws-amazon-bedrock-api-key. The id alone opens nothing.
    "debatable:aws-access-key-id": "AKIA[s16]",
    "aws-bedrock-api-key": bedrock_key,
    # Google: gitleaks gcp-api-key; GitHub's partner patterns for OAuth (GOCSPX-, ya29., 1//).
    "google-api-key": "AIzaSy[w33]",
    "google-oauth-client-secret": "GOCSPX-[w28]",
    "google-oauth-access-token": "ya29.a0[w160]",
    "google-oauth-refresh-token": "1//0[a1][w98]",
    "firebase-cloud-messaging-key": "AAAA[w7]:APA91b[w134]",
    # Microsoft: gitleaks azure-ad-client-secret; Microsoft Learn on Azure DevOps PATs (AZDO signature) and the
    # identifiable keys of Azure Functions.
    "azure-ad-client-secret": "[a3]8Q~[w34]",
    "azure-devops-pat": "[a52][s24]AZDO[a4]",
    "azure-function-key": "[a44]AzFu[a6]==",
    # gitleaks digitalocean-*, heroku-api-key-v2, flyio-access-token, scalingo-api-token.
    "digitalocean-pat": "dop_v1_[h64]",
    "digitalocean-oauth": "doo_v1_[h64]",
    "digitalocean-refresh": "dor_v1_[h64]",
    "heroku-api-key": "HRKU-AA[w58]",
    "flyio-token": "fo1_[w43]",
    "flyio-macaroon": "FlyV1 fm2_[b180]",
    "scalingo-token": "tk-us-[w48]",
    # Vercel's changelog "new token formats"; Kingfisher vercel.2-6 (with checksum).
    "vercel-personal": lambda d: "vcp_" + with_checksum(d.chars("a", 50)),
    "vercel-ai-gateway": lambda d: "vck_" + with_checksum(d.chars("a", 50)),
    # Netlify's and Render's documentation.
    "netlify-pat": "nfp_[a36]",
    "render-api-key": "rnd_[a28]",
    # Cloudflare "token formats" (Kingfisher cloudflare.3); gitleaks cloudflare-origin-ca-key.
    "cloudflare-user-token": "cfut_[a40][h8]",
    "cloudflare-origin-ca-key": "v1.0-[h24]-[h146]",
    # gitleaks planetscale-*, databricks-api-token, clickhouse-cloud-api-secret-key.
    "planetscale-token": "pscale_tkn_[w43]",
    "planetscale-oauth": "pscale_oauth_[w43]",
    "planetscale-password": "pscale_pw_[w43]",
    "databricks-token": "dapi[h32]",
    "clickhouse-cloud-secret": "4b1d[a38]",
    # Kingfisher supabase.1 and .2, pinecone.2.
    "supabase-management": "sbp_[h40]",
    "supabase-secret": "sb_secret_[w22]_[a8]",
    "pinecone-key": "pcsk_[a6]_[a63]",
    # Neon's, Aiven's and MongoDB Atlas's documentation.
    "neon-api-key": "napi_[l64]",
    "aiven-password": "AVNS_[w19]",
    "mongodb-atlas-service-account": "mdb_sa_sk_[w40]",
    # gitleaks pulumi-api-token, hashicorp-tf-api-token, vault-*-token, doppler-api-token; Doppler's "token formats".
    "pulumi-token": "pul-[h40]",
    "terraform-cloud-token": "[a14].atlasv1.[w67]",
    "vault-service-token": "hvs.CAES[w91]",
    "vault-batch-token": "hvb.AAAAAQ[w150]",
    "doppler-personal": "dp.pt.[a43]",
    "doppler-service": "dp.st.prd.[a43]",
    # gitleaks 1password-*, openshift-user-token, defined-networking-api-token; Tailscale's "key prefixes".
    "1password-service-account": onepassword_service_account,
    "1password-secret-key": "A3-[u6]-[u6]-[u5]-[u5]-[u5]-[u5]",
    "openshift-token": "sha256~[w43]",
    "defined-networking-key": "dnkey-[u26]-[u52]",
    "tailscale-auth-key": "tskey-auth-[a11]CNTRL-[a32]",
    "tailscale-api-key": "tskey-api-[a11]CNTRL-[a32]",
    # gitleaks yandex-*.
    "yandex-api-key": "AQVN[w36]",
    "yandex-iam-token": "t1.9eue[w150].[w86]",
}
