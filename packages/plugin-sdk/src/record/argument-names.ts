// Which argument of a tool call is one name, whatever signs stand in it.
import { isFile, isPath } from "./name-shapes.ts";
import { namesIn } from "./names.ts";

/** A whole argument that is a name. */
export interface ArgumentName {
  kind: "path" | "id";
  /** Exactly as it stands there. */
  name: string;
}

/** Longer ones are texts. */
const MAX_CHARS = 160;
/** What a pattern, a list, a piece of code or several words hold. */
const NO_NAME = /[\s\p{Cc}|;,"'`(){}[\]\\*+?$]/u;
/** What stands in brackets in a name: "users[0].id", "[fe80::1]:8080". */
const INDEX = /\[(?:\d+|[0-9a-f:]+)\]/gi;
const PHONE = /^\+\d[\d ().-]{6,20}\d$/;
/** A word that is said of everything: "main", "Error", "true", "200". */
const PLAIN = /^(?:[A-Za-z]+|[\d.]+)$/;
/** From a root or a folder that everybody knows, to a name without a dot at its end. */
const PATH_WITH_BLANKS =
  /^(?:~|\.{1,2}|\p{L}:)?[/\\](?!\/)[^\p{Cc}|;"`<>*?]+[^\p{Cc}|;"`<>*?.!,:]$/u;
/** A further path, or an option of a command. */
const MORE = /\s["']?(?:[-~/\\]|\.{1,2}[/\\]|\p{L}:\\)/u;

/**
 * The name that `text` is; undefined for prose, patterns and lists, and where the words of the text
 * are read as well one by one. A blank belongs to a name only within a path from a root.
 */
export function argumentName(text: string): ArgumentName | undefined {
  if (text.length < 3 || text.length > MAX_CHARS || PLAIN.test(text)) return undefined;
  const isWord = !NO_NAME.test(text.replace(INDEX, "")) || PHONE.test(text);
  if (!isWord && !isPathWithBlanks(text)) return undefined;
  const [first, ...others] = namesIn(text);
  if (first?.name === text && others.length === 0) return undefined;
  const isOfFiles = isPathWithBlanks(text) || isPath(text) || isFile(text);
  return { kind: isOfFiles ? "path" : "id", name: text };
}

const isPathWithBlanks = (text: string) =>
  text.includes(" ") && PATH_WITH_BLANKS.test(text) && !MORE.test(text);
