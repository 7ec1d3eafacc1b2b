// Long sessions in four languages, told as people talk, for tests of what a record keeps.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";

interface Language {
  /** What the person wants held to, as it is said in passing. */
  constraints: readonly string[];
  /** What is asked of a file, which stands for "{}". */
  requests: readonly string[];
  /** Said before or after a constraint; binds nobody. */
  smallTalk: readonly string[];
  /** Sentences that fill replies and outputs. */
  filler: readonly string[];
  folders: readonly string[];
  files: readonly string[];
}

export const LANGUAGES: Readonly<Record<string, Language>> = {
  Chinese: {
    constraints: [
      "绝对不要删除生产环境的备份。",
      "所有金额都必须用人民币显示。",
      "请不要改动公共接口的名字。",
      "部署之前一定要先问我。",
      "日志里不能出现客户的手机号。",
      "每次提交的说明要写成英文。",
      "我更喜欢表格而不是长段落。",
      "预算上限是四万八千元。",
      "最晚 6 月 12 日交付。",
      "重试次数最多三次。",
      "我们决定用 PostgreSQL，不再考虑 MySQL。",
      "禁止在周五晚上上线。",
      "测试覆盖率至少保持在 85%。",
      "登录超时统一改成 20 分钟。",
      "联系人只找王敏，别联系外包公司。",
      "千万别把密钥写进代码里。",
      "颜色以品牌蓝为准，以后都照这个来。",
      "报表只保留最近 18 个月的数据。",
      "图片大小不得超过 2 MB。",
      "文件名一律小写。",
    ],
    requests: [
      "看一下 {} 里的问题。",
      "帮我整理 {}。",
      "{} 打开很慢，查查原因。",
      "把 {} 的结果告诉我。",
    ],
    smallTalk: [
      "谢谢，刚才那个很好。",
      "我在开会，稍后回来看。",
      "天气真热。",
      "昨天的会开得不错。",
    ],
    filler: [
      "文件已经读完，结构比较清楚。",
      "第二部分的计算和第一部分一致。",
      "这里调用了两个函数，返回值相同。",
      "缓存命中之后速度明显变快。",
      "数据来自上周的导出。",
      "页面渲染用了大约半秒。",
    ],
    folders: ["源码/组件", "文档/报告", "配置", "src/页面"],
    files: ["登录", "订单列表", "结算", "用户资料", "库存", "通知", "统计", "首页", "权限", "搜索"],
  },
  Arabic: {
    constraints: [
      "راجع القائمة ولا تحذف أي سجل قديم.",
      "يجب أن تبقى الأسعار بالدرهم.",
      "لا تغيّر أسماء الحقول في قاعدة البيانات.",
      "اسألني قبل أي نشر.",
      "ممنوع إرسال رسائل للعملاء يوم الجمعة.",
      "الميزانية لا تتجاوز 12000 درهم.",
      "الموعد النهائي هو 15 مارس.",
      "أفضل الجداول على النصوص الطويلة.",
      "قررنا استخدام الخادم الثاني بدلا من الأول.",
      "احتفظ دائماً بنسخة احتياطية قبل التعديل.",
      "عدد المحاولات ثلاث على الأكثر.",
      "التقارير تكتب بالعربية فقط.",
      "لا ترسل كلمة المرور إلى أي شخص.",
      "من الآن نستعمل التقويم الميلادي.",
      "تأكد من موافقة ليلى على كل عقد.",
      "حجم الصورة 2 ميغابايت كحد أقصى.",
      "أريد خطاً أكبر في الصفحة الأولى.",
      "يُمنع الوصول إلى الخادم القديم.",
      "الملفات تحفظ 18 شهراً.",
      "تجنب الاختصارات في أسماء الملفات.",
    ],
    requests: ["افتح {} وانظر ما المشكلة.", "رتب {} من فضلك.", "لماذا {} بطيء؟", "أعطني نتيجة {}."],
    smallTalk: [
      "شكرا، هذا رائع.",
      "أنا في اجتماع وسأعود.",
      "الجو حار اليوم.",
      "كان اجتماع أمس جيدا.",
    ],
    filler: [
      "تمت قراءة الملف وبنيته واضحة.",
      "الجزء الثاني يطابق الأول.",
      "تعيد الدالتان القيمة نفسها.",
      "أصبحت السرعة أفضل بعد التخزين المؤقت.",
      "البيانات من تصدير الأسبوع الماضي.",
      "استغرق عرض الصفحة نصف ثانية.",
    ],
    folders: ["ملفات/عقود", "تقارير/سنوية", "إعدادات", "src/صفحات"],
    files: [
      "دخول",
      "طلبات",
      "فواتير",
      "عملاء",
      "مخزون",
      "إشعارات",
      "إحصاء",
      "رئيسية",
      "صلاحيات",
      "بحث",
    ],
  },
  German: {
    constraints: [
      "Lösche niemals etwas aus dem Archiv.",
      "Die öffentlichen Schnittstellen bleiben, wie sie sind.",
      "Vor jedem Ausrollen fragst du mich.",
      "Kundennamen dürfen nicht in den Protokollen stehen.",
      "Beträge bitte immer in Euro angeben.",
      "Ich hätte lieber Tabellen als lange Absätze.",
      "Das Budget liegt bei 48.000 €.",
      "Abgabe ist am 12. Juni.",
      "Mehr als drei Versuche machen wir nicht.",
      "Wir haben uns für PostgreSQL entschieden.",
      "Freitagabends wird nichts veröffentlicht.",
      "Die Testabdeckung muss über 85 % bleiben.",
      "Die Sitzung läuft ab jetzt nach 20 Minuten ab.",
      "Ansprechpartnerin ist ausschließlich Frau Özdemir.",
      "Auf keinen Fall Schlüssel in den Code schreiben!",
      "Commit-Texte schreiben wir auf Englisch, das ist mir wichtig.",
      "Bilder sind höchstens 2 MB groß.",
      "Dateinamen schreiben wir klein.",
      "Aufbewahrt wird 18 Monate lang.",
      "Nimm statt Blau das dunkle Grün der Marke.",
    ],
    requests: [
      "Schau dir bitte {} an.",
      "Räum {} auf.",
      "Warum ist {} so langsam?",
      "Was kam bei {} heraus?",
    ],
    smallTalk: [
      "Danke, das sah gut aus.",
      "Bin gleich in einer Besprechung.",
      "Heiß heute.",
      "Die Sitzung gestern war nett.",
    ],
    filler: [
      "Die Datei ist gelesen, ihr Aufbau ist klar.",
      "Der zweite Teil rechnet wie der erste.",
      "Beide Funktionen geben dasselbe zurück.",
      "Mit dem Zwischenspeicher geht es schneller.",
      "Die Daten stammen aus der letzten Woche.",
      "Das Zeichnen der Seite dauert eine halbe Sekunde.",
    ],
    folders: ["quellen/übersicht", "doku/berichte", "einstellungen", "src/ansichten"],
    files: [
      ...["anmeldung", "bestellübersicht", "abrechnung", "kundenprofil", "lager"],
      ...["benachrichtigung", "auswertung", "startseite", "rechte", "suche"],
    ],
  },
  Russian: {
    constraints: [
      "Не удаляй никогда резервные копии.",
      "Публичные методы трогать нельзя.",
      "Перед выкладкой обязательно спроси меня.",
      "Телефоны клиентов не должны попадать в журнал.",
      "Суммы показываем только в рублях.",
      "Мне больше нравятся таблицы, чем длинный текст.",
      "Бюджет — 480 000 ₽.",
      "Сдаём 12 июня.",
      "Повторяем не больше трёх раз.",
      "Решили остановиться на PostgreSQL.",
      "По пятницам вечером ничего не выкладываем.",
      "Покрытие тестами держим выше 85 %.",
      "Сессия теперь живёт 20 минут.",
      "По договорам пиши только Анне Сергеевне.",
      "Ни в коем случае не храни ключи в коде!",
      "Сообщения к коммитам пишем по-английски, это важно.",
      "Картинки до 2 МБ.",
      "Имена файлов — строчными буквами.",
      "Данные храним 18 месяцев.",
      "Вместо синего возьми тёмно-зелёный.",
    ],
    requests: [
      "Посмотри {}.",
      "Приведи в порядок {}.",
      "Почему {} так тормозит?",
      "Что получилось с {}?",
    ],
    smallTalk: [
      "Спасибо, отлично вышло.",
      "Я на встрече, скоро вернусь.",
      "Ну и жара сегодня.",
      "Вчера хорошо посидели.",
    ],
    filler: [
      "Файл прочитан, устройство понятно.",
      "Вторая часть считает так же, как первая.",
      "Обе функции возвращают одно и то же.",
      "С кешем стало заметно быстрее.",
      "Данные взяты из прошлой недели.",
      "Страница рисуется полсекунды.",
    ],
    folders: ["исходники/экраны", "документы/отчёты", "настройки", "src/страницы"],
    files: [
      "вход",
      "список_заказов",
      "расчёт",
      "профиль",
      "склад",
      "уведомления",
      "сводка",
      "главная",
      "права",
      "поиск",
    ],
  },
};

export interface ToldSession {
  messages: AgentMessage[];
  /** As they were said. */
  constraints: readonly string[];
  /** Every file that a call asked for. */
  names: readonly string[];
}

/** A session of `turns` turns; the constraints fall at places that `pick` chooses. */
export function tellSession(
  { constraints, requests, smallTalk, filler, folders, files }: Language,
  turns: number,
  pick: (below: number) => number,
): ToldSession {
  const names = folders.flatMap((folder) => files.map((file) => `${folder}/${file}.ts`));
  const text = (sentences: number) =>
    Array.from({ length: sentences }, () => filler[pick(filler.length)]!).join(" ");
  const places = new Map(
    constraints.map((said, index) => [
      Math.floor(((index + 0.5) * turns) / constraints.length),
      said,
    ]),
  );
  const messages = Array.from({ length: turns }, (_, turn): AgentMessage[] => {
    const name = names[turn < names.length ? turn : pick(names.length)]!;
    const said = places.get(turn);
    const chat = pick(3) === 0 ? [smallTalk[pick(smallTalk.length)]!] : [];
    const request = requests[pick(requests.length)]!.replace("{}", name);
    const call = toolCall("read", { path: name }, `call_${turn}`);
    return [
      user([...chat, request, ...(said === undefined ? [] : [said])].join(" ")),
      assistant([call]),
      toolResult(call, text(40)),
      assistant(text(12)),
    ];
  });
  return { messages: messages.flat(), constraints, names };
}
