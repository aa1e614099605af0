//! Text that speaks to a model instead of telling it something, in English and Chinese.

use super::Rule;

pub(super) const ENGLISH: &[Rule] = &[
    Rule::new(
        "ignore_instructions",
        r"(?i-u)\b(?:ignore|disregard|forget|override|bypass|skip|neglect|overlook|discard|do not follow)\s+(?:(?:all|any|the|your|my|these|those|of|and|everything)\s+){0,4}(?:previous|prior|above|earlier|preceding|foregoing|initial|original|system|safety|existing)\s+(?:\w+\s+){0,2}(?:instructions?|prompts?|messages?|rules?|guidelines?|directions?|directives?|context|constraints?)\b",
    ),
    // Where they stand is said after them, or whose they are.
    Rule::new(
        "ignore_these",
        r"(?i-u)\b(?:ignore|disregard|forget|override|bypass|discard|stop following|stop obeying|(?:do not|don't|no longer) (?:follow|obey)|pay no attention to)\s+(?:(?:all|any|of|every)\s+){0,2}(?:(?:the|these|those|any)\s+(?:instructions?|prompts?|rules|guidelines|directions|directives)\s+(?:above|before|given|you|so far|earlier|previously)|(?:your|(?:the\s+)?(?:developer|system|operator)(?:'s|s')?)\s+(?:\w+\s+)?(?:instructions?|prompts?|rules|guidelines|directives|programming|training))\b",
    ),
    Rule::new(
        "forget_all",
        r"(?i-u)\b(?:ignore|disregard|forget)\s+(?:about\s+)?(?:everything|anything|all|what|whatever)\s+(?:that\s+)?(?:you(?:'ve|\s+have)?|i(?:'ve|\s+have)?)\s+(?:(?:were|been|was)\s+)?(?:told|taught|instructed|said|learned|given)\b",
    ),
    Rule::new(
        "ignore_above",
        r"(?i-u)\b(?:ignore|disregard|forget)\s+(?:all|everything|anything|whatever)\s+(?:of\s+)?(?:the\s+)?(?:(?:text|content|words)\s+)?(?:(?:written|said|that came)\s+)?(?:above|before this|so far)\b",
    ),
    Rule::new(
        "revoked",
        r"(?i-u)\b(?:previous|prior|earlier|original|system)\s+(?:instructions?|prompts?|directives?|guidelines)\s+(?:are|is|were|have been|has been)\s+(?:now\s+)?(?:revoked|void|cancell?ed|superseded|replaced|obsolete|overridden)\b|\b(?:supersede|override|replace)s?\s+(?:all|any|your)\s+(?:of your\s+)?(?:prior|previous|earlier|other|existing)\s+(?:instructions|prompts|directives|guidelines)\b",
    ),
    Rule::new(
        "new_instructions",
        r"(?i-u)(?:^|[\n.!:>#*\]])\s{0,8}(?:your\s+)?(?:new|updated|real|actual|revised)\s+(?:system\s+)?(?:instructions?|task|prompt|objective)\s{0,3}(?::|are\b|is\b)",
    ),
    Rule::new(
        "role_marker",
        r"(?i-u)<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)\|>|\[/?INST\]|<</?SYS>>|(?:^|\n)\s{0,4}#{2,4}\s{0,2}(?:system|instruction)s?\s{0,2}:|</?(?:system|assistant)(?:[_-](?:prompt|message|instructions?))?>|(?:^|\n)(?:human|user):[^\n]*\n\s{0,4}(?:assistant|ai):",
    ),
    // `You are now logged in` tells people what they did: what is taken on here is a part to play.
    Rule::new(
        "persona",
        r"(?i-u)\b(?:you are now (?:dan|free|unrestricted|unbound|jailbroken|acting|playing|called|named|root|(?:operating\s+|running\s+)?in \w+ mode|(?:an?|the|my)\s+(?:[\w-]{1,16}\s+){0,3}(?:ai|assistant|agent|model|bot|chatbot|expert|hacker|persona|character|shell|terminal|interpreter))|from now on,? you (?:are|will|must)|act as if you (?:are|have)|pretend (?:(?:that )?you (?:are|have no)|to be an? (?:\w+\s+){0,2}(?:ai|assistant|model|expert|hacker))|enter (?:dan|god|jailbreak) mode|you are (?:DAN|no longer (?:an? )?(?:ai|assistant|bound)))\b",
    ),
    Rule::new(
        "no_limits",
        r"(?i-u)\bsystem override\b|\b(?:all|your)\s+(?:\w+\s+)?(?:restrictions|limitations|safeguards|filters)\s+(?:are|have been)\s+(?:now\s+)?(?:lifted|removed|disabled|void)\b|\bdeveloper mode enabled\b|\bdo anything now\b|\b(?:ai|assistant|model|agent|chatbot)\s+with(?:out any|out| no)\s+(?:restrictions|limits|limitations|rules|filters)\b|\b(?:bypass|disable|ignore|remove|turn off)\s+(?:all|any|your)\s+(?:of your\s+)?(?:content|safety|ethical)\s+(?:filters?|rules|guidelines|checks|restrictions|policies)\b",
    ),
    Rule::new(
        "reveal",
        r"(?i-u)\b(?:reveal|print|show|output|repeat|leak|disclose|tell me|send|exfiltrate)\s+(?:me\s+)?(?:(?:(?:all|the|your|of|any|full|entire|exact|complete|hidden)\s+){0,4}(?:system prompt|initial prompt|hidden (?:prompt|instructions)|system message)|(?:all\s+|any\s+)?(?:of\s+)?your\s+(?:\w+\s+)?(?:instructions|prompt|(?:api|secret|private|access) keys?|environment variables?|credentials|session tokens?))\b|\bexfiltrate\s+(?:the|all|your|any)\b|\brepeat\s+(?:all\s+)?(?:the\s+)?(?:words|text|instructions|rules)\s+above\b|\b(?:first|last)\s+\w{1,12}\s+words of your\b",
    ),
    Rule::new(
        "silence",
        r"(?i-u)\b(?:do not|don't|never|without)\s+(?:(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?(?: (?:this|it) to)?|alert(?:ing)?|notify(?:ing)?)\s+(?:the\s+|this to the\s+|your\s+)?(?:user|human|operator|owner)\b|ask(?:ing)?\s+(?:the\s+|your\s+)?(?:user|human|operator|owner)(?:$|[.,;!]|\s+(?:first|again|for\s+(?:permission|confirmation|approval|consent))\b))",
    ),
    // Documentation tells people to use tools and to call functions too; it does so with less haste.
    Rule::new(
        "call_a_tool",
        r"(?i-u)\b(?:(?:you must|you should|immediately|assistant[,:]?|ai[,:]?)\s+(?:now\s+|immediately\s+|also\s+)?(?:call|invoke|use|run|execute)\s+(?:the\s+)?[`']?[\w.-]{2,64}[`']?\s+(?:tool|function)|(?:please|now|then)\s+(?:now\s+|immediately\s+|also\s+)?(?:call|invoke|execute)\s+(?:the\s+)?[`']?[\w.-]{2,64}[`']?\s+tool)\b",
    ),
    Rule::new(
        "obey",
        r"(?i-u)\bdo exactly (?:as|what) i say\b|\bobey (?:me|my (?:commands?|orders?|instructions?))\b|\b(?:respond|reply|answer)\s+only\s+with\s+the\s+(?:word|phrase|text|answer)\b",
    ),
    // It knows that somebody reads it who is about to answer.
    Rule::new(
        "reader",
        r"(?i-u)\b(?:when|once|after|as soon as)\s+you(?:\s+have)?\s+(?:read|see|process|parse|summari[sz]e)\s+this\b[^.\n]{0,8},\s{0,3}(?:please\s+|you must\s+)?(?:call|run|execute|send|read|open|append|include|post|fetch|invoke|use|write|delete|reply|respond)\b|\bbefore\s+(?:you\s+(?:answer|respond|reply)|answering|responding|replying)\b[^.\n]{0,24},\s{0,3}(?:please\s+|you must\s+)?(?:call|run|execute|send|read|open|fetch|invoke|use|write|delete)\b",
    ),
    Rule::new(
        "addressed",
        r"(?i-u)\b(?:attention|important|note|message|instructions?)\s{0,3}(?:to|for)\s+(?:the\s+|any\s+|all\s+)?(?:ai|llm|language model|assistant|agent|chatbot|gpt|claude|gemini)s?\b|\b(?:dear|hey|hello|attention)[,!:]?\s+(?:ai|llm|language model|chatbot|claude|gemini|chatgpt)s?\b",
    ),
    Rule::new(
        "if_you_are_a_model",
        r"(?i-u)\b(?:if you are|if you're|as)\s+an?\s+(?:ai|artificial intelligence|llm|large language model|language model|chatbot)\b[^.\n]{0,60}\byou\s+(?:must|should|have to|need to|will|are to|are required)\b",
    ),
];

pub(super) const CHINESE: &[Rule] = &[
    Rule::new(
        "ignore_zh",
        r"(?:忽略|无视|忘记|忘掉|不要(?:再)?遵守|绕过|跳过)[^。！？\n]{0,12}(?:之前|以上|上面|先前|前面|此前|原有|系统|所有|安全)[^。！？\n]{0,10}(?:指令|指示|提示词?|规则|要求|设定|限制|内容)",
    ),
    Rule::new(
        "revoked_zh",
        r"(?:之前|以上|先前|上述|原有)的?(?:所有)?(?:指令|指示|提示词?|规则|设定)[^。！？\n]{0,4}(?:作废|失效|无效)",
    ),
    Rule::new("new_instructions_zh", r"(?:系统指令|新的?指令|你的?(?:新的?|真正的?|唯一的?)任务)\s{0,3}(?:是|为|：|:)"),
    Rule::new(
        "persona_zh",
        r"(?:从现在(?:开始|起)[,，]?\s{0,2}你(?:是|将|必须|要)|你现在(?:是|扮演)|假装你(?:是|没有)|进入(?:开发者|调试|越狱)模式|(?:解除|取消|移除)(?:所有|一切|全部|你的)的?(?:限制|约束))",
    ),
    Rule::new(
        "reveal_zh",
        r"(?:输出|打印|显示|告诉我|透露|泄露|发送|复述|重复)[^。！？\n]{0,10}(?:系统提示词?|系统指令|初始提示|隐藏(?:指令|提示)|你(?:的|收到的)[^。！？\n]{0,6}(?:指令|提示词|密钥|令牌|环境变量|凭据))",
    ),
    Rule::new(
        "send_zh",
        r"(?:把|将)[^。！？\n]{0,8}(?:对话|聊天记录|上下文|系统提示)[^。！？\n]{0,6}(?:发送|上传|转发|发)(?:到|给|至)",
    ),
    Rule::new(
        "if_you_are_a_model_zh",
        r"(?:作为|如果你是)(?:一个|一名)?(?:AI|ai|人工智能|大?语言模型|大模型)(?:助手|模型|智能体)?[^。！？\n]{0,12}你(?:必须|应该|应当|需要|要)",
    ),
    Rule::new("silence_zh", r"(?:不要|别|切勿|禁止)(?:告诉|告知|通知|提醒|询问)(?:用户|使用者|人类|操作员)"),
    Rule::new("call_a_tool_zh", r"(?:请|必须|立即|马上|现在)(?:立即|马上)?(?:调用|执行)[^。！？\n]{1,32}(?:工具|函数)"),
];
