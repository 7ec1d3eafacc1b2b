// Which parameters an error says it does not allow, in the shapes of the usual validators.
import { readQuietly } from "./describe-error.ts";

/** Parts of one error that are looked at: a validator may list one issue per value. */
const MAX_PARTS = 1_000;
/** Of a message; parameters are named at its start. */
const MAX_TEXT = 4_000;

/**
 * The top-level keys that `error` rejects as unknown. Structured issues decide where there are any;
 * message text does only where an engine gives nothing else. Looks at the whole cause chain, and
 * never throws.
 */
export function rejectedKeys(error: unknown): ReadonlySet<string> {
  const parts = everyPart(error);
  const issues = parts.flatMap((part) => readQuietly(() => keysOfIssue(part)) ?? []);
  return new Set(issues.length > 0 ? issues : parts.flatMap(keysInText));
}

type Issue = Record<string, unknown>;

/**
 * The error, its causes, and the elements of the lists in which validators keep issues; each once,
 * so that cycles end.
 */
function everyPart(error: unknown): unknown[] {
  const parts = new Set<unknown>([error]);
  for (const part of parts) {
    if (parts.size > MAX_PARTS) break;
    if (typeof part !== "object" || part === null) continue;
    for (const inner of readQuietly(() => partsOf(part as Issue)) ?? []) parts.add(inner);
  }
  return [...parts];
}

function partsOf(part: Issue): unknown[] {
  if (Array.isArray(part)) return part.slice(0, MAX_PARTS);
  const { cause, error, issues, errors, details } = part;
  const lists = [issues, errors, details].filter((list) => Array.isArray(list));
  return [cause, error, ...lists.flatMap((list: unknown[]) => list.slice(0, MAX_PARTS))].filter(
    (inner) => inner !== undefined && inner !== null,
  );
}

/** The parameter an issue is about: the first step of its path, else the keys it names itself. */
function keysOfIssue(part: unknown): string[] {
  const issue = recordOf(part);
  const named = issue && namedBy(issue);
  if (named === undefined) return [];
  const [first] = pathOf(issue!);
  return first === undefined ? named : [first];
}

/** The keys an issue about unknown keys names beside its path; undefined = it is about another. */
function namedBy(issue: Issue): string[] | undefined {
  const params = recordOf(issue.params) ?? {};
  // zod
  if (issue.code === "unrecognized_keys") return textsOf(issue.keys);
  // Ajv, and TypeBox from 1.0 on
  if (issue.keyword === "additionalProperties" || issue.keyword === "unevaluatedProperties")
    return [
      ...textsOf(params.additionalProperty ?? params.additionalProperties),
      ...textsOf(params.unevaluatedProperty ?? params.unevaluatedProperties),
    ];
  // yup
  if (issue.type === "noUnknown") return textsOf(params.unknown);
  const isUnknown =
    // TypeBox before 1.0
    issue.message === "Unexpected property" ||
    // joi
    issue.type === "object.unknown" ||
    // valibot
    (issue.kind === "schema" && issue.expected === "never") ||
    // superstruct
    (issue.type === "never" && Array.isArray(issue.path));
  return isUnknown ? [] : undefined;
}

/** As names: "/a/b" (JSON pointer), ".a" (Ajv 6), ["a", "b"], or valibot's [{ key: "a" }, …]. */
function pathOf({ path, instancePath, dataPath }: Issue): string[] {
  const pointer = [instancePath, dataPath, path].find((place) => typeof place === "string");
  if (pointer !== undefined) return (pointer as string).split(/[/.]/).filter((step) => step !== "");
  if (!Array.isArray(path)) return [];
  return path.map((step: unknown) => String(recordOf(step)?.key ?? step));
}

const PHRASES =
  "(?:unrecogni[sz]ed|unknown|unexpected|extraneous|additional|unevaluated|unsupported|invalid|unspecified)" +
  " (?:keyword )?(?:key|keys|key\\(s\\)|propert(?:y|ies)|field|fields|param|params|parameter|parameters|argument|arguments|option|options|attribute|attributes)";
const NAME = `['"\`]?[\\w$]+['"\`]?`;
/** A list of names behind a colon, or a quoted one a few words on, and what follows it. */
const AFTER_PHRASE = new RegExp(
  `${PHRASES}(?: in object)?(?:\\s*:\\s*|[^'"\`:]{0,40}(?=['"\`]))(?<names>${NAME}(?:\\s*(?:,|and)\\s*${NAME})*)`,
  "gi",
);
const BEFORE_PHRASE =
  /['"`]?(?<key>[\w$]+)['"`]? (?:(?:was|is) (?:not allowed|not expected|not permitted|unexpected|unknown|unrecogni[sz]ed)|must be removed)/gi;
/** What TypeBox says where its errors were lost: the first step of a JSON pointer. */
const POINTED_AT =
  /(?:^|[\s"'`(,;])\/(?<key>[\w$]+)[\w$/]*['"`]?\s*:\s*['"`]?unexpected property/gi;
/** What valibot says where its issues were lost, also as JSON. */
const NEVER_BUT = /expected never but received \\?['"`](?<key>[\w$]+)\\?['"`]/gi;
const QUOTED = /['"`]([\w$]+)['"`]/g;
const UNRECOGNIZED_JSON = /"code"\s*:\s*"unrecognized_keys"/;
const ADDITIONAL_JSON = /"(?:additional|unevaluated)Propert(?:y|ies)"\s*:\s*\[?(?<list>[^\]}]*)/g;

function keysInText(part: unknown): string[] {
  const text = readQuietly(() =>
    typeof part === "string" ? part : (part as { message?: unknown } | null)?.message,
  );
  if (typeof text !== "string") return [];
  const start = text.slice(0, MAX_TEXT);
  return [
    ...[...start.matchAll(AFTER_PHRASE)].flatMap(
      ({ groups }) => groups?.names?.match(/[\w$]+/g) ?? [],
    ),
    ...[...start.matchAll(BEFORE_PHRASE)].flatMap(({ groups }) => groups?.key ?? []),
    ...[...start.matchAll(POINTED_AT)].flatMap(({ groups }) => groups?.key ?? []),
    ...[...start.matchAll(NEVER_BUT)].flatMap(({ groups }) => groups?.key ?? []),
    ...(UNRECOGNIZED_JSON.test(start) ? quotedIn(start) : []),
    ...[...start.matchAll(ADDITIONAL_JSON)].flatMap(({ groups }) => quotedIn(groups?.list)),
  ];
}

const quotedIn = (text: string | undefined): string[] =>
  [...(text ?? "").matchAll(QUOTED)].map(([, key]) => key!);
const recordOf = (value: unknown): Issue | undefined =>
  typeof value === "object" && value !== null ? (value as Issue) : undefined;
/** A list of texts, or yup's "a, b". */
const textsOf = (value: unknown): string[] =>
  typeof value === "string"
    ? value.split(/\s*,\s*/)
    : Array.isArray(value)
      ? value.filter((key): key is string => typeof key === "string")
      : [];
