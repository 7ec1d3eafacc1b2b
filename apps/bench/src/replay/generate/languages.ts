// The words of generated sessions in five languages.

/** What people, files and comments sound like. */
export interface Language {
  /** Names the session. */
  name: string;
  folders: readonly string[];
  /** Beginnings of file names. */
  stems: readonly string[];
  /** Requests; %s is a symbol, %f a file. */
  requests: readonly string[];
  /** What the model says before it calls a tool; %f is a file. */
  says: readonly string[];
  /** Final replies; %s is a symbol, %f a file. */
  replies: readonly string[];
  /** Rules for the rest of the session, each said once. */
  constraints: readonly string[];
  /** Comments in code. */
  comments: readonly string[];
}

export const ENGLISH: Language = {
  name: "coding",
  folders: ["src", "core", "api", "billing", "store", "web", "shared", "jobs", "internal", "cmd"],
  stems: ["main", "plan", "run", "format", "client", "worker", "view", "sync", "audit", "import"],
  requests: [
    "Please make %s in %f return early when the input is empty, and add a test.",
    "The nightly job fails somewhere around %s. Find out why and fix it.",
    "Can you look at how %f uses %s? I think it counts twice.",
    "Rename what %s returns so that it matches the other callers, %f included.",
    "A customer reports wrong totals since yesterday; start with %s.",
  ],
  says: [
    "Let me look at %f.",
    "I search for the callers first.",
    "Next I check %f.",
    "Now the tests.",
  ],
  replies: [
    "%s in %f now returns early; the test covers both cases.",
    "The cause was %s: it was called twice in %f. It is fixed and the tests pass.",
    "Done. %f is the only file that changed, and %s keeps its name.",
  ],
  constraints: [
    "Never edit anything below migrations/, whatever the ticket says.",
    "From now on run the linter before you call something done.",
    "Keep the public names stable until the release in March.",
    "Do not add new dependencies without asking me first.",
    "All amounts are in cents; never use floating point for money.",
    "Answer me in short sentences and leave out apologies.",
  ],
  comments: [
    "Keeps the order in which entries arrived.",
    "Only the newest lease may write here.",
    "Rounds down, because totals are compared with the invoice.",
    "The caller has checked the tenant already.",
    "Empty input is an answer, not an error.",
  ],
};

export const CHINESE: Language = {
  name: "chinese",
  folders: ["src", "组件", "服务", "账单", "公共", "页面", "接口", "任务"],
  stems: ["登录", "订单", "报表", "用户", "支付", "导出", "同步", "设置"],
  requests: [
    "请让 %f 里的 %s 在输入为空时直接返回，并补一个测试。",
    "昨晚的任务在 %s 附近失败了，请找出原因并修好。",
    "请看一下 %f 是怎么用 %s 的，我觉得它算了两次。",
    "客户说金额不对，先从 %s 查起。",
  ],
  says: ["我先看一下 %f 。", "先找出所有调用的地方。", "接着检查 %f 。", "现在运行测试。"],
  replies: [
    "已经修好：%f 里的 %s 现在会提前返回，测试都通过了。",
    "原因在 %s ，它在 %f 里被调用了两次。现在已经改正。",
  ],
  constraints: [
    "绝对不要删除 migrations 目录里的任何文件。",
    "以后每次改完都要先运行代码检查。",
    "三月发布之前，公开的名字一律不许改。",
    "没有我的同意，不要增加新的依赖。",
    "所有金额都以分为单位，禁止使用浮点数。",
  ],
  comments: [
    "保持条目到达的顺序。",
    "只有最新的租约才能写入。",
    "向下取整，因为要和发票核对。",
    "空输入是一种回答，不是错误。",
  ],
};

export const ARABIC: Language = {
  name: "arabic",
  folders: ["src", "مكونات", "خدمات", "فواتير", "مشترك", "صفحات", "مهام"],
  stems: ["دخول", "طلب", "تقرير", "مستخدم", "دفع", "تصدير", "إعداد"],
  requests: [
    "من فضلك اجعل %s في %f تعود فورًا عندما يكون الإدخال فارغًا، وأضف اختبارًا.",
    "فشلت مهمة الليل قرب %s. ابحث عن السبب وأصلحه.",
    "انظر كيف يستعمل %f الدالة %s، أظن أنها تحسب مرتين.",
    "يقول العميل إن المبالغ خاطئة؛ ابدأ من %s.",
  ],
  says: [
    "سأنظر في %f أولًا.",
    "أبحث عن كل مواضع الاستدعاء.",
    "الآن أفحص %f .",
    "أشغّل الاختبارات الآن.",
  ],
  replies: [
    "تم الإصلاح: %s في %f تعود الآن مبكرًا وكل الاختبارات ناجحة.",
    "كان السبب %s، فقد استُدعيت مرتين في %f وقد صُحّح ذلك.",
  ],
  constraints: [
    "لا تحذف أبدًا أي ملف داخل مجلد migrations.",
    "من الآن فصاعدًا شغّل فحص الشيفرة قبل أن تقول إنك انتهيت.",
    "لا تغيّر الأسماء العامة قبل إصدار مارس.",
    "لا تضف أي اعتماد جديد من دون موافقتي.",
    "كل المبالغ بالسنت، ولا تستعمل الأعداد العشرية للمال.",
  ],
  comments: [
    "يحافظ على ترتيب وصول العناصر.",
    "لا يكتب هنا إلا أحدث عقد.",
    "تقريب إلى الأسفل لأن المجموع يُقارن بالفاتورة.",
    "الإدخال الفارغ جواب وليس خطأ.",
  ],
};

export const GERMAN: Language = {
  name: "german",
  folders: ["src", "bausteine", "dienste", "rechnungen", "gemeinsam", "oberfläche", "aufträge"],
  stems: ["anmeldung", "bestellung", "übersicht", "zahlung", "prüfung", "ausfuhr", "größe"],
  requests: [
    "Bitte lass %s in %f bei leerer Eingabe sofort zurückkehren und schreibe einen Test dazu.",
    "Der nächtliche Lauf bricht irgendwo bei %s ab. Finde die Ursache und behebe sie.",
    "Schau dir an, wie %f die Funktion %s benutzt; ich glaube, sie zählt doppelt.",
    "Ein Kunde meldet falsche Summen, fang bei %s an.",
  ],
  says: [
    "Ich sehe mir %f an.",
    "Zuerst suche ich alle Aufrufe.",
    "Als Nächstes prüfe ich %f.",
    "Jetzt die Tests.",
  ],
  replies: [
    "Erledigt: %s in %f kehrt jetzt früh zurück, alle Tests laufen durch.",
    "Die Ursache war %s, es wurde in %f zweimal aufgerufen. Das ist behoben.",
  ],
  constraints: [
    "Lösche niemals Dateien unter migrations, egal was im Ticket steht.",
    "Lass ab jetzt immer zuerst die Codeprüfung laufen.",
    "Öffentliche Namen dürfen bis zur Veröffentlichung im März nicht geändert werden.",
    "Füge keine neuen Abhängigkeiten hinzu, ohne mich zu fragen.",
    "Alle Beträge sind in Cent; verwende auf keinen Fall Fließkommazahlen.",
  ],
  comments: [
    "Behält die Reihenfolge der Einträge bei.",
    "Nur die neueste Freigabe darf hier schreiben.",
    "Rundet ab, weil mit der Rechnung verglichen wird.",
    "Leere Eingabe ist eine Antwort und kein Fehler.",
  ],
};

export const RUSSIAN: Language = {
  name: "russian",
  folders: ["src", "модули", "службы", "счета", "общее", "страницы", "задачи"],
  stems: ["вход", "заказ", "отчёт", "оплата", "проверка", "выгрузка", "настройка"],
  requests: [
    "Пожалуйста, сделай так, чтобы %s в %f сразу возвращалась при пустом вводе, и добавь тест.",
    "Ночная задача падает где-то около %s. Найди причину и исправь.",
    "Посмотри, как %f использует %s: мне кажется, считается дважды.",
    "Клиент жалуется на неверные суммы, начни с %s.",
  ],
  says: ["Сначала посмотрю %f.", "Ищу все места вызова.", "Теперь проверяю %f.", "Запускаю тесты."],
  replies: [
    "Готово: %s в %f теперь возвращается раньше, все тесты проходят.",
    "Причина была в %s: функция вызывалась дважды в %f. Исправлено.",
  ],
  constraints: [
    "Никогда не удаляй файлы в папке migrations, что бы ни было написано в задаче.",
    "С этого момента всегда сначала запускай проверку кода.",
    "Публичные имена нельзя менять до мартовского выпуска.",
    "Не добавляй новых зависимостей без моего согласия.",
    "Все суммы в копейках; запрещено использовать дробные числа для денег.",
  ],
  comments: [
    "Сохраняет порядок поступления записей.",
    "Писать сюда может только последняя аренда.",
    "Округляет вниз, потому что сверяется со счётом.",
    "Пустой ввод — это ответ, а не ошибка.",
  ],
};

export const OTHER_LANGUAGES = [CHINESE, ARABIC, GERMAN, RUSSIAN] as const;
