// Finds what speaks to its reader in the words of a summary, by whole words.

/**
 * Pure. True where it gives an order, or is somebody's turn, in words that are known. A word
 * counts as a whole, however it is written: "forget-me-nots" are no order, "ig-nore" and "i g n o
 * r e" are.
 */
export function speaksToReader(text: string): boolean {
  const read = text.normalize("NFKC").replaceAll(/\p{Cf}/gu, "");
  if (MARKS.test(read) || MIXED.test(read) || ELSEWHERE.test(read)) return true;
  const folded = read.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return [wordsIn(folded), spelledOut(wordsIn(folded.replaceAll(WITHIN, "")))].some(
    (words) => SPEAKS.test(words) || ORDERS.test(words),
  );
}

/** Brackets around what a host calls a turn or a record. */
const MARKS = /[<[]\s*\/?\s*(?:system|inst|record|stored)(?![\p{L}\p{N}_-])|<\||\|>/iu;
/** A letter of another script in a word looks like one of its own. */
const MIXED = /\p{Script=Latin}\p{Script=Cyrillic}|\p{Script=Cyrillic}\p{Script=Latin}/u;
/** Orders of languages that part no words by spaces; what was done has other endings. */
const ELSEWHERE =
  /(?<![被已可])(?:忽略|无视)(?!了|不计|掉|的)|(?:無視し|忘れ)て(?:ください|下さい|[。、\s]|$)|無視(?:しろ|せよ)/u;

/** Marks that stand inside a word. */
const WITHIN = /(?<=[\p{L}\p{N}])[-_.*~'’/\\|`]+(?=[\p{L}\p{N}])/gu;

/**
 * With a space around each, and "." where a sentence may begin. A hyphen parts no words: what is
 * one word there is none that is known. Quotes stay where they are, as what is quoted is told.
 */
function wordsIn(text: string): string {
  const marked = text
    .replaceAll(/['’]/gu, "")
    .replace(/^["“„«「\s]+/u, "")
    .replaceAll(/[.!?;。！？؟…•]+|(?<=\s|^)[-–—*]+(?=\s)/gu, " . ")
    .replaceAll(/[:：]/gu, " : . ")
    .replaceAll(/[,،，]/gu, " , ")
    .replaceAll(/[^\p{L}\p{N}_.:,"“„«「-]+/gu, " ");
  return ` . ${marked.trim()} `.replaceAll(/ +/g, " ").replaceAll(/(?: \.)+(?= )/g, " .");
}

/** Letters that stand alone make a word, and halves of words that are known. */
const spelledOut = (words: string): string =>
  words
    .replaceAll(/(?<= )\p{L}(?: \p{L}){3,}(?= )/gu, (letters) => letters.replaceAll(" ", ""))
    .replaceAll(/(?<= )(\p{L}+) (?=(\p{L}+) )/gu, (half, one: string, other: string) =>
      KNOWN.has(one + other) ? one : half,
    );

/** Long enough that two other words hardly make one of them. */
const KNOWN: ReadonlySet<string> = new Set([
  ...["ignore", "disregard", "override", "instruction", "instructions", "previous", "prompts"],
  ...["system", "assistant", "developer", "delete", "remove", "execute", "approve", "reveal"],
]);

/** What a record of the past has no reason to say: it would be read as somebody's order. */
const SPEAKS =
  / (?:system|assistant|user|developer) : | (?:ignore|disregard|forget|override) .{0,40}(?<= )(?:instructions?|prompts?|rules?|above|previous|prior) | you (?:must|should|are now|have to) | (?:про)?(?:игнорируи|забудь)(?:те)? |(?<! تم) و?تجاهل(?:وا)? /u;
/** How a sentence begins that tells somebody what to do. */
const ORDERS =
  / \. (?:next step|please|always|never|do not|dont|(?:assistant|system|user) ,|(?:delete|remove|erase|run|call|execute|send|post|upload|download|install|approve|allow|remember|ignore|reveal|reply|answer|tell|write|say|use|open|visit|stop|continue) (?:all|any|every|each|the|this|that|these|those|it|a|an|to|with|only|your|me|us|no|from|previous)|ignor[ae]|ignorez|ignoriere|olvida|oubliez|vergiss|losche|borra|supprimez?) /u;
