// Decides by a sentence's words how binding it is.

import { namesIn } from "./names.ts";

/**
 * How binding a sentence is: it forbids or demands ("rule"), prefers or decides ("wish"), counts or
 * dates ("amount"), says something else ("plain"), or asks about something at hand ("task"): it is
 * a question, or names a file or an id.
 */
export type Force = "rule" | "wish" | "amount" | "plain" | "task";

// Written in the order of their languages: English, German, French, Spanish, Portuguese, Italian,
// Dutch, Scandinavian, Polish, Czech, Russian, Ukrainian, Turkish, Vietnamese, Indonesian, Arabic,
// Hebrew, Persian, Hindi, Greek. A sentence in another language, or in other words, is plain.
const RULE_WORDS = [
  "must(?:n['’]t)?|never|always|under no circumstances|at (?:most|least)|no (?:more|less|fewer) than|only (?:if|when|with|after|use|in)|forbidden|required|not allowed|make sure|ensure|be sure|avoid|refrain|has to|have to|needs? to|off[- ]limits|may not|shall|without (?:asking|my|permission)|exactly|strictly|(?<!(?:i|we|they|you|who|still|just|really) )(?:don['’]?t|do not)|leave .{1,40} (?:alone|as)|keep (?:your|all|the|it|every|using)",
  "nie|niemals|keinesfalls|auf keinen fall|unter keinen umständen|darf(?:st)?|dürfen|dürft|muss|müssen|musst|müsst|immer|stets|unbedingt|zwingend|verboten|ausschließlich|höchstens|mindestens|maximal|ohne (?:meine|rückfrage|vorherige)|(?:bitte|aber|auch) nicht|nicht \\p{L}+en|nur (?:wenn|mit|nach|noch)|kein\\p{L}* \\p{L}+ (?:löschen|ändern|anfassen)|finger weg|vermeide\\p{L}*",
  "jamais|interdit\\p{L}*|il faut|doi(?:s|t|vent)|devez|toujours|obligatoire\\p{L}*|surtout pas|au (?:plus|moins|maximum)|uniquement|seulement si|en aucun cas|sans (?:mon|me|demander)|évite\\p{L}*|n(?:e |['’])\\p{L}+ (?:pas|plus|rien)",
  "nunca|jamás|siempre|debe[ns]?|debemos|hay que|tiene[ns]? que|prohibid\\p{L}*|obligatori\\p{L}*|bajo ning\\p{L}*|en ningún|sin (?:mi|permiso|preguntar\\p{L}*)|como (?:máximo|mínimo)|al menos|solo si|únicamente|evita\\p{L}*|no (?:\\p{L}+[ae]s|\\p{L}+[ae]n?)(?= )",
  "jamais|sempre|deve[m]?|tem que|é preciso|proibid\\p{L}*|obrigatóri\\p{L}*|de jeito nenhum|em hipótese alguma|sem (?:minha|permissão|perguntar)|no (?:máximo|mínimo)|pelo menos|apenas se|somente|evite\\p{L}*|não \\p{L}+(?:e|a|em|am)(?= )",
  "mai|sempre|dev[eio]|devono|bisogna|occorre|vietat\\p{L}*|obbligatori\\p{L}*|in nessun caso|assolutamente|senza (?:chiedere|il mio)|al massimo|almeno|solo se|evita\\p{L}*|non \\p{L}+(?:are|ere|ire)",
  "nooit|altijd|moet(?:en)?|mag (?:niet|nooit)|verboden|verplicht|in geen geval|zonder (?:mijn|te vragen)|hoogstens|minstens|alleen als|uitsluitend|niet \\p{L}+en",
  "aldrig|aldri|alltid|altid|måste|får inte|må (?:ikke|aldri)|skal|förbjud\\p{L}*|forbudt|minst|högst|endast|bara om|inte \\p{L}+|under inga",
  "nigdy|zawsze|mus(?:i|zą|isz|imy)|nie wolno|zabron\\p{L}*|koniecznie|pod żadnym|co najmniej|najwyżej|tylko (?:jeśli|gdy)|wyłącznie|bez (?:mojej|pytania)|nie \\p{L}+(?:aj|uj|ij|yj)(?:cie)?",
  "nikdy|vždy|mus\\p{L}+|nesm\\p{L}+|zakáz\\p{L}*|v žádném|nejméně|nejvýše|pouze|ne\\p{L}+ejte",
  "никогда|ни в коем случае|ни за что|всегда|нельзя|запре\\p{L}*|долж\\p{L}+|обязательно|обязан\\p{L}*|нужно|надо|необходимо|строго|не (?:более|менее|больше|меньше)|минимум|максимум|только (?:если|после|с|в|через)|без (?:моего|спроса|разрешения|согласования)|не \\p{L}+(?:й|йте|и|ите|ь|ьте|ть|ться)",
  "ніколи|завжди|заборон\\p{L}*|повинн\\p{L}*|обов['’]язково|треба|потрібно|не можна|лише|тільки (?:якщо|після)|у жодному|не \\p{L}+(?:й|йте|и|іть|ти|ь)",
  "asla|her zaman|daima|mutlaka|zorunlu|yasak\\p{L}*|sakın|sadece|yalnızca|en (?:fazla|az)|gerek\\p{L}*|izin\\p{L}* olmadan|\\p{L}{2,}m[ae]l[ıi]\\p{L}*|\\p{L}{2,}m[ae]y[ıi]n\\p{L}*",
  "đừng|không (?:được|bao giờ)|tuyệt đối|luôn|phải|chỉ (?:khi|được)|cấm|bắt buộc|ít nhất|nhiều nhất|tối (?:đa|thiểu)",
  "jangan|selalu|harus|wajib|dilarang|tidak boleh|tidak pernah|hanya (?:jika|boleh)|minimal|maksimal|tanpa (?:izin|bertanya)",
  "و?لا \\p{L}+|ابدا|أبدا|اطلاقا|إطلاقا|مطلقا|دائما|يجب|لا بد|ممنوع\\p{L}*|محظور|يمنع|ضروري|إلزامي|تجنب|فقط|على الأقل|على الأكثر|بدون (?:إذن|موافق)\\p{L}*|ينبغي|احرص|تأكد",
  "אסור|לעולם|אף פעם|תמיד|חייב\\p{L}*|צריך|אל \\p{L}+|בלי (?:רשות|לשאול)|לפחות|לכל היותר|רק אם|חובה|בשום אופן",
  "هرگز|هیچ.?گاه|همیشه|باید|نباید|ممنوع|حتما|فقط|حداقل|حداکثر|بدون اجازه|ن\\p{L}{3,}ید",
  "कभी (?:न|नहीं|भी)|हमेशा|ज़रूर|जरूर|चाहिए|मत|न करें|अनिवार्य|केवल|सिर्फ़?|कम से कम|बिना पूछे",
  "ποτέ|πάντα|μην?|πρέπει|απαγορεύ\\p{L}*|υποχρεωτ\\p{L}*|τουλάχιστον|μόνο αν|αποκλειστικά",
];
/** Scripts without spaces between words: Chinese, Japanese, Korean endings, Thai. */
const RULE_PARTS =
  "不要|不得|不能|不可|不许|不許|不准|禁止|严禁|嚴禁|切勿|请勿|請勿|绝不|絕不|绝对|絕對|决不|永远|永遠|从不|從不|必须|必須|务必|務必|一定|始终|始終|总是|總是|只能|只有|只允许|至少|至多|最多|最少|不超过|不超過|除非|别(?:再|动|改|碰|用|删|把|在)|別(?:再|動|改|碰|用|刪)|应该|應該|应当|千万|ないで|てはいけ|てはなら|ではいけ|ちゃだめ|絶対|必ず|決して|なければ|ねばなら|べき|するな|しないこと|常に|のみ|以内|厳禁|ダメ|必須|마세요|마십시오|말아|말 것|지 ?마|금지|절대|반드시|꼭|항상|언제나|해야|하면 안|안 ?[됩돼된]|최소|최대|이내|필수|ห้าม|อย่า|ต้อง|เสมอ|เด็ดขาด|เท่านั้น|ไม่เกิน";

const WISH_WORDS = [
  "prefer\\p{L}*|rather|i(?:['’]d)? like|(?:i|we) want|instead of|let['’]?s|decided|decision|agreed|we(?:['’]ll| will)|go(?:ing)? with|chose|choose|settled|favou?rite|from now on|should(?:n['’]t)?|can(?:['’]?t|not)|remember|keep in mind|important|call me|my name|deadline|due|budget|limit",
  "lieber|bevorzug\\p{L}*|möchte\\p{L}*|wollen|statt|anstatt|stattdessen|entschieden|entscheidung|vereinbart|beschlossen|ab (?:jetzt|sofort)|wir (?:nehmen|bleiben|verwenden|nutzen)|soll\\p{L}*|wichtig|merk dir|denk daran|nicht vergessen|vergiss nicht|frist",
  "préf[èé]r\\p{L}*|plutôt|je veux|voudrais|au lieu|décid\\p{L}*|désormais|important\\p{L}*|retiens|oublie pas|souviens",
  "prefiero|preferimos|mejor|quiero|quisiera|en (?:vez|lugar) de|decid\\p{L}*|acord\\p{L}*|a partir de ahora|importante|recuerda|ten en cuenta|plazo|presupuesto",
  "prefiro|melhor|quero|gostaria|em vez|decidi\\p{L}*|combinamos|a partir de agora|lembre\\p{L}*|prazo|orçamento",
  "preferisc\\p{L}*|meglio|voglio|vorrei|invece|deciso|d['’]ora in poi|ricorda\\p{L}*|scadenza",
  "liever|voorkeur|ik wil|in plaats|besloten|afgesproken|vanaf nu|belangrijk|onthoud",
  "föredrar|hellre|heller|istället|bestäm\\p{L}*|bestemt|från och med|viktig\\p{L}*|kom ihåg|husk",
  "wolę|wolimy|chcę|zamiast|zdecyd\\p{L}*|ustali\\p{L}*|od teraz|ważn\\p{L}*|pamiętaj\\p{L}*",
  "raději|chci|místo|rozhod\\p{L}*|od teď|důležit\\p{L}*|pamatuj",
  "предпочита\\p{L}*|лучше|хочу|хотим|хотел\\p{L}*|вместо|решил\\p{L}*|решен\\p{L}*|договорил\\p{L}*|с этого момента|отныне|важно|запомни\\p{L}*|учти\\p{L}*|давай\\p{L}*|помни\\p{L}*|срок|бюджет",
  "краще|хочу|хочемо|замість|вирішил\\p{L}*|домовил\\p{L}*|відтепер|важливо|запам\\p{L}*|пам['’]ятай\\p{L}*",
  "tercih\\p{L}*|istiyor\\p{L}*|yerine|karar\\p{L}*|bundan (?:sonra|böyle)|önemli|unutma\\p{L}*|hatırla\\p{L}*",
  "thích|muốn|thay vì|quyết định|từ (?:nay|bây giờ)|quan trọng|hãy nhớ",
  "lebih suka|ingin|daripada|memutuskan|sepakat|mulai sekarang|penting|ingat",
  "أفضل|نفضل|أريد|نريد|بدلا|قررنا|قررت|اتفقنا|من الآن|مهم|تذكر|لاحظ|الموعد|الميزانية|اعتمدنا",
  "מעדיפ\\p{L}*|עדיף|רוצ\\p{L}*|במקום|החלטנו|סיכמנו|מעכשיו|חשוב|זכור|תזכור",
  "ترجیح|می.?خواه\\p{L}*|به جای|تصمیم|از این پس|مهم|یادت",
  "पसंद|बेहतर|चाहत\\p{L}*|बजाय|तय|फ़ैसला|अब से|ज़रूरी|याद",
  "προτιμ\\p{L}*|καλύτερα|θέλω|αντί|αποφασίσ\\p{L}*|συμφων\\p{L}*|από τώρα|σημαντικό|θυμήσου",
];
const WISH_PARTS =
  "喜欢|喜歡|偏好|希望|想要|宁愿|寧願|更愿意|改用|改成|换成|換成|而不是|决定|決定|约定|約定|同意|说好|从现在|從現在|以后|以後|今后|记住|記住|重要|注意|优先|優先|尽量|盡量|截止|预算|預算|方がいい|ほうがいい|好き|てほしい|たい(?:です|。|$)|代わりに|決め|合意|今後|覚えて|にしよう|선호|좋겠|원합|원해|대신|결정|합의|앞으로|기억|중요|우선|기로 했|อยากให้|ชอบ|ตัดสินใจ|แทน|สำคัญ|จำไว้";

const oneOf = (words: readonly string[], parts: string) =>
  new RegExp(`(?<![\\p{L}\\p{M}])(?:${words.join("|")})(?![\\p{L}\\p{M}])|${parts}`, "iu");
const RULE = oneOf(RULE_WORDS, RULE_PARTS);
const WISH = oneOf(WISH_WORDS, WISH_PARTS);
const AMOUNT =
  /(?<![\p{L}\p{N}_/.#@-])\p{N}[\p{N}.,:]*(?![\p{L}\p{N}_/-])|\p{N}\s?(?:%|€|\$|£|¥|元|円|원)/u;
const QUESTION = /[?？؟]\P{L}*$/u;
/** Marks that Arabic and Hebrew texts may or may not write. */
const OPTIONAL_MARKS = /[\u0591-\u05c7\u0640\u064b-\u0652]/g;
const MAX_READ = 400;

const CUES = new RegExp(`${RULE.source}|${WISH.source}`, "giu");

/** What a sentence's words say of it, from its first 400 characters. */
export function forceOf(sentence: string): Force {
  const read = readable(sentence);
  if (RULE.test(read)) return "rule";
  if (WISH.test(read)) return "wish";
  if (QUESTION.test(read) || namesIn(read).length > 0) return "task";
  return AMOUNT.test(read) ? "amount" : "plain";
}

/** The first 400 characters of a sentence without the words that say how binding it is. */
export const withoutCues = (sentence: string): string => readable(sentence).replace(CUES, " ");

const readable = (sentence: string) =>
  sentence.slice(0, MAX_READ).normalize("NFC").replace(OPTIONAL_MARKS, "");
