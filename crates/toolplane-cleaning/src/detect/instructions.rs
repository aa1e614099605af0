//! Text that speaks to a model instead of telling it something, in English and Chinese.

use super::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::new(
        "ignore_instructions",
        r"(?i-u)\b(?:ignore|disregard|forget|override|bypass|do not follow)\s{1,3}(?:(?:all|any|the|your|my|these|those|of|and|everything)\s{1,3}){0,4}(?:previous|prior|above|earlier|preceding|foregoing|initial|original|system|safety|existing)\s{1,3}(?:\w{1,16}\s{1,3}){0,2}(?:instructions?|prompts?|messages?|rules?|guidelines?|directions?|context|constraints?)\b",
    ),
    Rule::new(
        "new_instructions",
        r"(?i-u)(?:^|[\n.!:>#*\]])\s{0,8}(?:your\s{1,3})?(?:new|updated|real|actual|revised)\s{1,3}(?:system\s{1,3})?(?:instructions?|task|prompt|objective)\s{0,3}(?::|are\b|is\b)",
    ),
    Rule::new(
        "role_marker",
        r"(?i-u)<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)\|>|\[/?INST\]|<</?SYS>>|(?:^|\n)\s{0,4}#{2,4}\s{0,2}(?:system|instruction)s?\s{0,2}:|</?(?:system|assistant)(?:[_-](?:prompt|message|instructions?))?>",
    ),
    Rule::new(
        "persona",
        r"(?i-u)\b(?:you are now|from now on,? you (?:are|will|must)|act as if you (?:are|have)|pretend (?:to be|you are)|enter (?:developer|dan|god|debug|maintenance) mode|you are (?:DAN|no longer (?:an? )?(?:ai|assistant|bound)))\b",
    ),
    Rule::new(
        "reveal",
        r"(?i-u)\b(?:reveal|print|show|output|repeat|leak|disclose|tell me|send|exfiltrate)\s{1,3}(?:me\s{1,3})?(?:(?:all|the|your|of|any|full|entire|exact|complete|hidden)\s{1,3}){0,4}(?:system prompt|initial prompt|hidden (?:prompt|instructions)|system message|(?:api|secret|private|access) keys?|environment variables?|credentials|session tokens?)\b",
    ),
    Rule::new(
        "silence",
        r"(?i-u)\b(?:do not|don't|never|without)\s{1,3}(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?(?: (?:this|it) to)?|alert(?:ing)?|notify(?:ing)?|ask(?:ing)?|warn(?:ing)?)\s{1,3}(?:the\s{1,3}|this to the\s{1,3}|your\s{1,3})?(?:user|human|operator|owner)\b",
    ),
    Rule::new(
        "call_a_tool",
        r"(?i-u)\b(?:you must|you should|immediately|please|now|then|assistant[,:]?|ai[,:]?)\s{1,3}(?:now\s{1,3}|immediately\s{1,3}|also\s{1,3})?(?:call|invoke|use|run|execute)\s{1,3}(?:the\s{1,3})?[`']?[\w.-]{2,64}[`']?\s{1,3}(?:tool|function|command)\b",
    ),
    Rule::new(
        "addressed",
        r"(?i-u)\b(?:attention|important|note|message|instructions?)\s{0,3}(?:to|for)\s{1,3}(?:the\s{1,3}|any\s{1,3}|all\s{1,3})?(?:ai|llm|language model|assistant|agent|chatbot|gpt|claude|gemini)s?\b",
    ),
    Rule::new(
        "ignore_zh",
        r"(?:忽略|无视|忘记|忘掉|不要(?:再)?遵守|绕过|跳过)[^。！？\n]{0,12}(?:之前|以上|上面|先前|前面|此前|原有|系统|所有|安全)[^。！？\n]{0,10}(?:指令|指示|提示词?|规则|要求|设定|限制|内容)",
    ),
    Rule::new(
        "persona_zh",
        r"(?:从现在(?:开始|起)[,，]?\s{0,2}你(?:是|将|必须|要)|你现在(?:是|扮演)|假装你(?:是|没有)|进入(?:开发者|调试|越狱)模式)",
    ),
    Rule::new(
        "reveal_zh",
        r"(?:输出|打印|显示|告诉我|透露|泄露|发送|复述)[^。！？\n]{0,10}(?:系统提示词?|系统指令|初始提示|隐藏(?:指令|提示)|密钥|令牌|环境变量|凭据)",
    ),
    Rule::new("silence_zh", r"(?:不要|别|切勿|禁止)(?:告诉|告知|通知|提醒|询问)(?:用户|使用者|人类|操作员)"),
    Rule::new(
        "call_a_tool_zh",
        r"(?:请|必须|立即|马上|现在)(?:立即|马上)?(?:调用|执行|运行|使用)[^。！？\n]{1,32}(?:工具|函数|命令)",
    ),
];
