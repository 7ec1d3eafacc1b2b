// The words that say how binding a sentence is, in the languages we know words of.

// Written in the order of their languages: English, German, French, Spanish, Portuguese, Italian,
// Dutch, Scandinavian, Polish, Czech, Russian, Ukrainian, Turkish, Vietnamese, Indonesian, Arabic,
// Hebrew, Persian, Hindi, Greek. All are parts of regular expressions.

/** What holds until it is taken back: it forbids, or says how it always is. */
export const STANDING_WORDS = [
  "must(?:n['’]t| (?:not|never|always))|never|always|from now on|going forward|henceforth|under no circumstances|forbidden|prohibited|not allowed|off[- ]limits|hands off|may not|shall (?:not|never)|avoid|refrain|without (?:asking|my|permission)|(?<!(?:i|we|they|you|who|still|just|really) )(?:don['’]?t|do not)(?! (?:worry|mind|bother|hesitate|care|know|think|see)(?!\\p{L}))|leave .{1,40} (?:alone|as)",
  "nie|niemals|keinesfalls|auf keinen fall|unter keinen umständen|darf(?:st)?|dürfen|dürft|immer|stets|ab (?:jetzt|sofort)|künftig|verboten|ohne (?:meine|rückfrage|vorherige)|(?:bitte|aber|auch) nicht|nicht \\p{L}+en|kein\\p{L}* \\p{L}+ (?:löschen|ändern|anfassen)|finger weg|vermeide\\p{L}*",
  "jamais|interdit\\p{L}*|défense de|toujours|désormais|dorénavant|à partir de maintenant|surtout pas|en aucun cas|sans (?:mon|me|demander)|évite\\p{L}*|n(?:e |['’])\\p{L}+ (?:pas|plus|rien)",
  "nunca|jamás|siempre|a partir de ahora|de ahora en adelante|prohibid\\p{L}*|bajo ning\\p{L}*|en ningún|sin (?:mi|permiso|preguntar\\p{L}*)|evita\\p{L}*|no (?:\\p{L}+[ae]s|\\p{L}+[ae]n?)(?= )",
  "jamais|sempre|a partir de agora|de agora em diante|proibid\\p{L}*|de jeito nenhum|em hipótese alguma|sem (?:minha|permissão|perguntar)|evite\\p{L}*|não \\p{L}+(?:e|a|em|am)(?= )",
  "mai|sempre|d['’]ora in (?:poi|avanti)|vietat\\p{L}*|in nessun caso|assolutamente|senza (?:chiedere|il mio)|evita\\p{L}*|non \\p{L}+(?:are|ere|ire)",
  "nooit|altijd|vanaf nu|voortaan|mag (?:niet|nooit)|verboden|in geen geval|zonder (?:mijn|te vragen)|niet \\p{L}+en",
  "aldrig|aldri|alltid|altid|från och med nu|hädanefter|fra (?:nå av|nu af)|får inte|må (?:ikke|aldri)|förbjud\\p{L}*|forbudt|inte \\p{L}+|under inga",
  "nigdy|zawsze|od teraz|odtąd|nie wolno|zabron\\p{L}*|pod żadnym|bez (?:mojej|pytania)|nie \\p{L}+(?:aj|uj|ij|yj)(?:cie)?",
  "nikdy|vždy|ode? teď|nesm\\p{L}+|zakáz\\p{L}*|v žádném|ne\\p{L}+ejte",
  "никогда|ни в коем случае|ни за что|ни под каким|всегда|с этого момента|отныне|впредь|нельзя|запре\\p{L}*|без (?:моего|спроса|разрешения|согласования)|не \\p{L}+(?:й|йте|и|ите|ь|ьте|ть|ться)",
  "ніколи|завжди|відтепер|надалі|заборон\\p{L}*|не можна|у жодному|не \\p{L}+(?:й|йте|и|іть|ти|ь)",
  "asla|her zaman|bundan (?:sonra|böyle)|daima|yasak\\p{L}*|sakın|izin\\p{L}* olmadan|\\p{L}{2,}m[ae]y[ıi]n\\p{L}*",
  "đừng|không (?:được|bao giờ)|tuyệt đối|luôn|từ (?:nay|bây giờ)|cấm",
  "jangan|selalu|mulai sekarang|dilarang|tidak boleh|tidak pernah|tanpa (?:izin|bertanya)",
  "و?لا (?:ت\\p{L}+|[أن]ريد|يجوز|يسمح|ينبغي|يجب|يمكن(?:ك|كم))|إياك|اياك|ابدا|أبدا|اطلاقا|إطلاقا|مطلقا|دائما|دوما|من الآن|ممنوع\\p{L}*|محظور|يحظر|يمنع|تجنب|بدون (?:إذن|موافق)\\p{L}*|دون (?:إذن|موافق)\\p{L}*",
  "אסור|לעולם|אף פעם|תמיד|מעכשיו|מעתה|אל \\p{L}+|בלי (?:רשות|לשאול)|בשום אופן",
  "هرگز|هیچ.?گاه|همیشه|از این پس|نباید|ممنوع|بدون اجازه|ن\\p{L}{3,}ید",
  "कभी (?:न|नहीं|भी)|हमेशा|अब से|मत|न करें|बिना पूछे|मना है",
  "ποτέ|πάντα|από (?:τώρα και|εδώ και)|στο εξής|μην?|απαγορεύ\\p{L}*",
];
/** Scripts without spaces between words: Chinese, Japanese, Korean endings, Thai. */
export const STANDING_PARTS =
  "不要|不得|不能|不可|不许|不許|不准|禁止|严禁|嚴禁|切勿|请勿|請勿|绝不|絕不|绝对|絕對|决不|永远|永遠|从不|從不|始终|始終|总是|總是|从现在|從現在|今后|以[后後](?:都|所有|请|請|不|每|一律|再)|别(?:再|动|改|碰|用|删|把|在)|別(?:再|動|改|碰|用|刪)|千万|千萬|ないで|てはいけ|てはなら|ではいけ|ちゃだめ|絶対|決して|するな|しないこと|常に|今後|厳禁|ダメ|마세요|마십시오|말아|말 것|지 ?마|금지|절대|항상|언제나|앞으로[는도]|하면 안|안 ?[됩돼된]|ห้าม|อย่า|เสมอ|เด็ดขาด";

/** What is demanded of one thing or of all. */
export const RULE_WORDS = [
  "must|at (?:most|least)|no (?:more|less|fewer) than|only (?:if|when|with|after|use|in)|required|make sure|ensure|be sure|has to|have to|needs? to|shall|exactly|strictly|keep (?:your|all|the|it|every|using)",
  "muss|müssen|musst|müsst|unbedingt|zwingend|ausschließlich|höchstens|mindestens|maximal|nur (?:wenn|mit|nach|noch)",
  "il faut|doi(?:s|t|vent)|devez|obligatoire\\p{L}*|au (?:plus|moins|maximum)|uniquement|seulement si",
  "debe[ns]?|debemos|hay que|tiene[ns]? que|obligatori\\p{L}*|como (?:máximo|mínimo)|al menos|solo si|únicamente",
  "deve[m]?|tem que|é preciso|obrigatóri\\p{L}*|no (?:máximo|mínimo)|pelo menos|apenas se|somente",
  "dev[eio]|devono|bisogna|occorre|obbligatori\\p{L}*|al massimo|almeno|solo se",
  "moet(?:en)?|verplicht|hoogstens|minstens|alleen als|uitsluitend",
  "måste|skal|minst|högst|endast|bara om",
  "mus(?:i|zą|isz|imy)|koniecznie|co najmniej|najwyżej|tylko (?:jeśli|gdy)|wyłącznie",
  "mus\\p{L}+|nejméně|nejvýše|pouze",
  "долж\\p{L}+|обязательно|обязан\\p{L}*|нужно|надо|необходимо|строго|не (?:более|менее|больше|меньше)|минимум|максимум|только (?:если|после|с|в|через)",
  "повинн\\p{L}*|обов['’]язково|треба|потрібно|лише|тільки (?:якщо|після)",
  "mutlaka|zorunlu|sadece|yalnızca|en (?:fazla|az)|gerek\\p{L}*|\\p{L}{2,}m[ae]l[ıi]\\p{L}*",
  "phải|chỉ (?:khi|được)|bắt buộc|ít nhất|nhiều nhất|tối (?:đa|thiểu)",
  "harus|wajib|hanya (?:jika|boleh)|minimal|maksimal",
  "يجب|لا بد|ضروري|إلزامي|فقط|على الأقل|على الأكثر|ينبغي|احرص|تأكد",
  "חייב\\p{L}*|צריך|לפחות|לכל היותר|רק אם|חובה",
  "باید|حتما|فقط|حداقل|حداکثر",
  "ज़रूर|जरूर|चाहिए|अनिवार्य|केवल|सिर्फ़?|कम से कम",
  "πρέπει|υποχρεωτ\\p{L}*|τουλάχιστον|μόνο αν|αποκλειστικά",
];
export const RULE_PARTS =
  "必须|必須|务必|務必|一定|只能|只有|只允许|至少|至多|最多|最少|不超过|不超過|除非|应该|應該|应当|必ず|なければ|ねばなら|べき|のみ|以内|반드시|꼭|해야|최소|최대|이내|필수|ต้อง|เท่านั้น|ไม่เกิน";

/** What is preferred or decided. */
export const WISH_WORDS = [
  "prefer\\p{L}*|rather|i(?:['’]d)? like|(?:i|we) want|instead of|let['’]?s|decided|decision|agreed|we(?:['’]ll| will)|go(?:ing)? with|chose|choose|settled|favou?rite|should(?:n['’]t)?|can(?:['’]?t|not)|remember|keep in mind|important|call me|my name|deadline|due|budget|limit",
  "lieber|bevorzug\\p{L}*|möchte\\p{L}*|wollen|statt|anstatt|stattdessen|entschieden|entscheidung|vereinbart|beschlossen|wir (?:nehmen|bleiben|verwenden|nutzen)|soll\\p{L}*|wichtig|merk dir|denk daran|nicht vergessen|vergiss nicht|frist",
  "préf[èé]r\\p{L}*|plutôt|je veux|voudrais|au lieu|décid\\p{L}*|important\\p{L}*|retiens|oublie pas|souviens",
  "prefiero|preferimos|mejor|quiero|quisiera|en (?:vez|lugar) de|decid\\p{L}*|acord\\p{L}*|importante|recuerda|ten en cuenta|plazo|presupuesto",
  "prefiro|melhor|quero|gostaria|em vez|decidi\\p{L}*|combinamos|lembre\\p{L}*|prazo|orçamento",
  "preferisc\\p{L}*|meglio|voglio|vorrei|invece|deciso|ricorda\\p{L}*|scadenza",
  "liever|voorkeur|ik wil|in plaats|besloten|afgesproken|belangrijk|onthoud",
  "föredrar|hellre|heller|istället|bestäm\\p{L}*|bestemt|från och med|viktig\\p{L}*|kom ihåg|husk",
  "wolę|wolimy|chcę|zamiast|zdecyd\\p{L}*|ustali\\p{L}*|ważn\\p{L}*|pamiętaj\\p{L}*",
  "raději|chci|místo|rozhod\\p{L}*|důležit\\p{L}*|pamatuj",
  "предпочита\\p{L}*|лучше|хочу|хотим|хотел\\p{L}*|вместо|решил\\p{L}*|решен\\p{L}*|договорил\\p{L}*|важно|запомни\\p{L}*|учти\\p{L}*|давай\\p{L}*|помни\\p{L}*|срок|бюджет",
  "краще|хочу|хочемо|замість|вирішил\\p{L}*|домовил\\p{L}*|важливо|запам\\p{L}*|пам['’]ятай\\p{L}*",
  "tercih\\p{L}*|istiyor\\p{L}*|yerine|karar\\p{L}*|önemli|unutma\\p{L}*|hatırla\\p{L}*",
  "thích|muốn|thay vì|quyết định|quan trọng|hãy nhớ",
  "lebih suka|ingin|daripada|memutuskan|sepakat|penting|ingat",
  "أفضل|نفضل|أريد|نريد|بدلا|قررنا|قررت|اتفقنا|مهم|تذكر|لاحظ|الموعد|الميزانية|اعتمدنا",
  "מעדיפ\\p{L}*|עדיף|רוצ\\p{L}*|במקום|החלטנו|סיכמנו|חשוב|זכור|תזכור",
  "ترجیح|می.?خواه\\p{L}*|به جای|تصمیم|مهم|یادت",
  "पसंद|बेहतर|चाहत\\p{L}*|बजाय|तय|फ़ैसला|ज़रूरी|याद",
  "προτιμ\\p{L}*|καλύτερα|θέλω|αντί|αποφασίσ\\p{L}*|συμφων\\p{L}*|σημαντικό|θυμήσου",
];
export const WISH_PARTS =
  "喜欢|喜歡|偏好|希望|想要|宁愿|寧願|更愿意|改用|改成|换成|換成|而不是|决定|決定|约定|約定|同意|说好|以后|以後|记住|記住|重要|注意|优先|優先|尽量|盡量|截止|预算|預算|方がいい|ほうがいい|好き|てほしい|たい(?:です|。|$)|代わりに|決め|合意|覚えて|にしよう|선호|좋겠|원합|원해|대신|결정|합의|앞으로|기억|중요|우선|기로 했|อยากให้|ชอบ|ตัดสินใจ|แทน|สำคัญ|จำไว้";
