// Which words of a text carry information, in a form that can be compared.

/** A word to look for: whole, or, in scripts without word gaps, a pair of characters anywhere. */
export interface Term {
  text: string;
  wholeWord: boolean;
  /** As it was written. */
  original: string;
}

/** Too common to tell one sentence from another, and words of asking. */
const COMMON = new Set(
  `a about after again all also am an and any are as asked at be been before being but by can could did do does doing earlier for from gave get
  give given got had has have having he her here him his how i if in into is it its just know let like may me mention mentioned might mine more
  most my no not now of off on once one only or other our out over own please previously put recall remember remind same said say shall she
  should so some such talked tell than that the their them then there these they this those to told too under until up us use used very was we
  were what when where which while who whom whose why will with would yes you your yours`
    .split(/\s+/)
    .map(fold),
);
/** The same in German, Russian and Arabic. */
const COMMON_ELSEWHERE = new Set(
  `aber auch auf aus bei bin bist damals dann das dass dein dem den denn der des dich dir doch du ein eine einem einen einer eines er es euch euer
  für hat hatte ich ihm ihn ihr im ist ja jetzt mein meine meinem meinen meiner mich mir mit nach nicht noch nun oder schon sein seine sich sie
  sind um und uns unser von vom vor wann warum welche welchem welchen welcher welches wem wen wer werden weshalb wie wieso wir wird wo woher wohin
  wurde zu zum zur
  а без был была были было быть в вам вас весь во вот вы где да для до его ее её если есть ещё еще же за зачем и из или им их к как какая какие
  какой какую когда кого кому кто куда ли мне мой моего моей мои мою моя мы на над нам нас наш не ней нет но ну о об он она они от откуда по под
  почему при про с сейчас сколько со так там твой теперь то тот ты у уже чего чем что чтобы это этот эта я
  أم أن أنا أنت أو أي أين إلى الآن التي الذي إن ب بعد بل تم ثم حتى على عن عند في قبل قد كان كانت كل كم كيف لا لم لماذا لن له لها ليس ما ماذا متى
  مع من هذا هذه هل هم هو هي و يا يجب`.split(/\s+/),
);

// Han, Hiragana, Katakana and Thai write no gaps between words.
const GAPLESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;
// Their words of asking.
const GAPLESS_ASKING =
  /什么时候|为什么|什么|哪里|哪个|怎么|多少|请问|是谁|[谁几吗呢的是]|いつ|どこ|なに|なぜ|どう|ですか|ますか|[誰何はがをのか]/;
const WORD = /[\p{L}\p{N}_]+(?:[-.:@/][\p{L}\p{N}_]+)*/gu;

/** Every word of a text, folded; compounds like `deploy-key` also give their parts. */
export function foldedWords(text: string): Set<string> {
  const words = new Set<string>();
  for (const [word] of text.toLowerCase().matchAll(WORD))
    for (const part of withParts(word)) words.add(fold(part));
  return words;
}

/** The informative words of a question, each once, in order; at most 32. */
export function informativeTerms(text: string): Term[] {
  const terms = new Map<string, Term>();
  const gapped = text.replace(GAPLESS, (run) => {
    for (const pair of run.split(GAPLESS_ASKING).flatMap(pairs))
      terms.set(pair, { text: pair, wholeWord: false, original: pair });
    return " ";
  });
  for (const [word] of gapped.matchAll(WORD)) {
    const folded = fold(word.toLowerCase());
    if (isInformative(folded) && !terms.has(folded))
      terms.set(folded, { text: folded, wholeWord: true, original: word });
  }
  return [...terms.values()].slice(0, 32);
}

/** True for a folded word that is no common one. */
export function isInformative(folded: string): boolean {
  return (
    !COMMON.has(folded) &&
    !COMMON_ELSEWHERE.has(folded) &&
    (folded.length > 1 || /\p{N}/u.test(folded))
  );
}

/** Each character with the next one. */
function pairs(run: string): string[] {
  const characters = [...run];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

const withParts = (word: string) =>
  /[-.:@/]/.test(word) ? [word, ...word.split(/[-.:@/]/)] : [word];

/**
 * Singular and plural, `move` and `moved` count as one word: what is left is a beginning of all of
 * them. English only.
 */
function fold(word: string): string {
  if (word.length <= 3 || !/^[a-z]+$/.test(word)) return word;
  const singular = word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
  const stem = singular.replace(/(?<=...)(?:ing|ed)$/, "");
  return stem.length > 3 && stem.endsWith("e") ? stem.slice(0, -1) : stem;
}
