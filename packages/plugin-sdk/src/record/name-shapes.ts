// Which shapes a name may have.

// All of these are linear: they meet hostile tool output.
/** With the brackets that `namesIn` hides. */
const PATH_CHARS = String.raw`~$\p{L}\p{N}\p{M}_.@+=/%&#:\ue000-\ue003-`;
const PATH = new RegExp(`^[${PATH_CHARS}]*[\\p{L}\\p{N}\\p{M}_/]$`, "u");
/** "/users/:id"; a colon anywhere else ends a path. */
const PARAMETER = /\/:(?=[A-Za-z])/g;
/** Endings of files that are known for nothing else. */
export const EXTENSIONS =
  "[cm]?[jt]sx?|json5?|jsonl|mdx?|rst|adoc|tex|py|ipynb|rs|go|mod|sum|rb|java|kts?|gradle|swift|scala|clj|exs?|erl|hs|mli?|lua|pl|jl|dart|zig|nim|c|h|cc|cpp|hpp|cs|fs|vb|sh|bash|zsh|ps1|bat|ya?ml|toml|sql|html?|s?css|less|txt|csv|tsv|parquet|lock|env|xml|xsd|svg|png|jpe?g|gif|webp|pdf|docx?|xlsx?|pptx?|od[tsp]|log|ini|cfg|conf|proto|graphql|tf|hcl|vue|svelte|astro|php|diff|patch|zip|gz|tgz|tar|whl|jar|wasm|bin|db|sqlite|pem|crt|key";
const FILE = new RegExp(`^[\\p{L}\\p{N}\\p{M}_.@+~%&#-]+\\.(?:${EXTENSIONS})$`, "iu");
/** A member of something in a program: "registry.Lock", "process.env". */
const MEMBER = /\.[A-Z][a-z]+$|^(?:process|import\.meta)\.env$|^console\.log$/;
const WELL_KNOWN_FILE =
  /^(?:(?:Docker|[A-Z][a-z]+)file(?:\.[\w-]+)?|LICENSE|README|CHANGELOG|\.[a-z]+(?:rc|ignore|config)|\.env(?:\.[\w-]+)*)$/;
/** "C:\Users\ana", "\\nas\share". */
export const WINDOWS_PATH = /^(?:[A-Za-z]:|\\)\\[^\\:*?]+(?:\\[^\\:*?]+)*\\?$/;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/\S+$/i;
const MAIL = /^[\p{L}\p{N}_.%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u;
const HOST_PORT = /^(?:localhost|[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+):\d{2,5}$/u;
/** Of three words: two are often a member of something in a program. */
const HOST =
  /^[a-z0-9][a-z0-9-]*(?:\.[a-z0-9][a-z0-9-]*)+\.(?:com|org|net|edu|gov|int|io|ai|dev|app|cloud|local|internal|lan|test|example|eu|de|uk|fr|ru|cn|jp|br|nl|ch|pl|au|kr|tw|cz|ua|tr|us)$/;
const IP_V6 =
  /^(?=[^:]*:[^:]*:)(?=.*\d)(?=.*::|(?:[^:]*:){7})[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,8}(?:\/\d{1,3})?$/i;
const IMAGE = /^[\w-]+(?:\.[\w-]+)+(?:\/[\w.-]+)+:[\w][\w.-]*$/;
const CLOUD = /^arn:[\w-]+:[\w-]*:[\w-]*:\d*:\S+$/;
const ID =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?=[0-9a-f]*\d)[0-9a-f]{7,64}|0x[0-9a-f]{4,}|0X[0-9A-F]{4,}|0x[0-9A-F]{4,}|[A-Za-z]{2,}[A-Za-z0-9]*(?:-\d+)+|#\d+|(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,}|[a-z]+(?:_[a-z0-9]+)*_\d+|v?\d+\.\d+\.\d+\S*|[a-z]{2,6}[_-](?=\w*\d)\w{6,})$/;
const SYMBOL =
  /^(?:\p{L}[\p{L}\p{N}_]*_[\p{L}\p{N}_]+|_[\p{L}\p{N}_]{3,}|\p{Ll}[\p{Ll}\p{N}]*\p{Lu}[\p{L}\p{N}_]*|\p{Lu}[\p{Ll}\p{N}]+\p{Lu}[\p{L}\p{N}_]*|\p{Lu}{2,}\p{Ll}[\p{L}\p{N}_]{2,}|E[A-Z]{4,14})$/u;
/** Of several words: "std::vector", "com.acme.OrderService", "Order#total". */
const SCOPED =
  /^[\p{L}_][\p{L}\p{N}_]*(?:::[\p{L}_][\p{L}\p{N}_]*)+$|^(?:com|org|net|io|dev|java|javax|jakarta|kotlin|scala|androidx?)(?:\.[a-z]\w*)+\.[A-Z]\w+$|^[A-Z]\w+#[A-Za-z]\w+$/u;
/** Words joined by hyphens or dots of which one holds a digit; dates, amounts, numbers. */
const WEAK_ID =
  /^(?=.{6})(?=\D*\d)[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)+$|^\+?\d[\d-]{6,}\d$|^[€$£¥]\d[\d.,]*$/u;
/** An image with its tag, a table with its column, a program with its place. */
const WEAK_PAIR =
  /^[a-z][a-z0-9._/-]*:v?\d+(?:[.-][\w.-]+)+$|^[a-z]+_\w+\.[a-z]+_\w+$|^[a-z0-9-]+\.(?:com|org|net|io|dev)$/;
/** "--max-old-space-size". */
export const FLAG = /^--[a-z][\w-]{3,}$/;

/** A link, a mailbox, a host, a host and port, an image of a registry, a resource of a cloud. */
export const isAddress = (word: string) =>
  ADDRESS.test(word) ||
  MAIL.test(word) ||
  CLOUD.test(word) ||
  IP_V6.test(word) ||
  (HOST.test(word) && !isFile(word)) ||
  (HOST_PORT.test(word) && !isFile(word.slice(0, word.indexOf(":")))) ||
  (IMAGE.test(word) && !FILE.test(word.slice(0, word.lastIndexOf(":")).replace(/^.*\//, "")));

/** A thing by its number, digest, version or key. */
export const isId = (word: string) => ID.test(word);

/** A name of a program in one word. */
export const isSymbol = (word: string) => SYMBOL.test(word);

/** A name of a program with what it belongs to. */
export const isScoped = (word: string) => SCOPED.test(word);

/** Looks like an id, as many words do. */
export const isLikeId = (word: string) => WEAK_ID.test(word);

/** Two names that belong together, or two words with a mark between them. */
export const isLikePair = (word: string) =>
  WEAK_PAIR.test(word) && !isFile(word.slice(0, Math.max(0, word.indexOf(":"))));

/** By its ending, or because everybody knows it. */
export const isFile = (word: string) =>
  (FILE.test(word) && !MEMBER.test(word)) || WELL_KNOWN_FILE.test(word);

/** "src/index", "./a", "~/b/c", "feature/x-1"; not "and/or" and not "/word", which closes a tag. */
export function isPath(word: string): boolean {
  if (!word.includes("/") || word.includes("//") || !PATH.test(word)) return false;
  if (!/[^\d/]/.test(word) || word.replace(PARAMETER, "/").includes(":")) return false;
  const parts = word.split("/").filter((part) => part !== "");
  if (parts.length < 2) return /^[~.]|^[\p{L}\p{N}_][\p{L}\p{N}_.-]*\/$/u.test(word);
  return (
    /^[~./$]/.test(word) ||
    parts.length > 2 ||
    parts.some((part) => /[\d._-]/.test(part) || NOT_ASCII.test(part))
  );
}

const NOT_ASCII = /[^ -~]/;
