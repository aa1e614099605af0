//! Keys and tokens that say by their form who gave them out.

use super::Rule;
use super::secret_value::has_digit_and_letter;

pub(super) const RULES: &[Rule] = &[
    Rule::new("aws_key_id", r"(?-u)\b(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    Rule::new("github_token", r"(?-u)\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})\b"),
    Rule::new("gitlab_token", r"(?-u)\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-[A-Za-z0-9_-]{20,64}"),
    Rule::new(
        "slack_token",
        r"(?-u)\bxox[abeoprs]-(?:[0-9A-Za-z]{1,40}-){1,5}[0-9A-Za-z]{8,80}|\bxapp-[0-9]-[A-Z0-9]{8,20}-[0-9]{8,20}-[a-f0-9]{32,80}",
    ),
    Rule::new(
        "slack_webhook",
        r"(?-u)hooks\.slack\.com/services/T[A-Za-z0-9]{6,16}/B[A-Za-z0-9]{6,16}/(?P<v>[A-Za-z0-9]{16,40})",
    ),
    Rule::new("google_api_key", r"(?-u)\bAIza[0-9A-Za-z_-]{35}"),
    Rule::new("google_oauth", r"(?-u)\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{28}"),
    Rule::new("anthropic_key", r"(?-u)\bsk-ant-[A-Za-z0-9]{2,10}-[A-Za-z0-9_-]{20,}"),
    Rule::checked("openai_key", r"(?-u)\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}", has_digit_and_letter),
    Rule::new("stripe_key", r"(?-u)\b(?:sk|rk|pk|whsec)_(?:live_|test_)?[0-9A-Za-z]{24,}\b"),
    Rule::new("npm_token", r"(?-u)\bnpm_[A-Za-z0-9]{36}\b"),
    Rule::new("pypi_token", r"(?-u)\bpypi-AgEI[A-Za-z0-9_-]{50,}"),
    Rule::new("huggingface_token", r"(?-u)\bhf_[A-Za-z0-9]{30,60}\b"),
    Rule::new("digitalocean_token", r"(?-u)\bdo[opr]_v1_[a-f0-9]{64}\b"),
    Rule::new("sendgrid_key", r"(?-u)\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    Rule::new("twilio_key", r"(?-u)\bSK[0-9a-f]{32}\b"),
    Rule::new("telegram_token", r"(?-u)\b[0-9]{8,10}:AA[0-9A-Za-z_-]{33}"),
    Rule::new("databricks_token", r"(?-u)\bdapi[a-f0-9]{32}\b"),
    Rule::new("vault_token", r"(?-u)\bhv[sb]\.[A-Za-z0-9_-]{24,}"),
    Rule::new("shopify_token", r"(?-u)\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    Rule::new("age_key", r"(?-u)\bAGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Rule::new("azure_account_key", r"(?i-u)AccountKey=(?P<v>[A-Za-z0-9+/]{40,}={0,2})"),
    // One that is not signed (`alg: none`) ends with its second point. More points stand for what an example leaves away.
    Rule::checked(
        "json_web_token",
        r"(?-u)\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.(?:[A-Za-z0-9_-]+|\.{0,2})",
        |value| !value.ends_with(b".."),
    ),
    Rule::new("aliyun_key_id", r"(?-u)\bLTAI[A-Za-z0-9]{12,20}\b"),
    Rule::checked("tencent_key_id", r"(?-u)\bAKID[A-Za-z0-9]{32}\b", has_digit_and_letter),
    Rule::new("docker_token", r"(?-u)\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    Rule::new("grafana_token", r"(?-u)\bglsa_[A-Za-z0-9]{32}_[a-f0-9]{8}\b"),
    Rule::new("linear_key", r"(?-u)\blin_api_[A-Za-z0-9]{32,}"),
    Rule::new("postman_key", r"(?-u)\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b"),
    Rule::new("atlassian_token", r"(?-u)\bATATT3[A-Za-z0-9_=-]{60,}"),
    Rule::new("tailscale_key", r"(?-u)\btskey-[a-z]{2,10}-[A-Za-z0-9-]{16,}"),
    Rule::checked("groq_key", r"(?-u)\b(?:gsk|r8)_[A-Za-z0-9]{36,}\b", has_digit_and_letter),
    Rule::new(
        "webhook",
        r"(?-u)(?:discord(?:app)?\.com/api/webhooks/[0-9]{15,21}|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook)/(?P<v>[A-Za-z0-9_-]{36,90})",
    ),
];
