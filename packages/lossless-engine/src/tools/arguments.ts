// Decides whether the arguments of a call are what its tool takes, for hosts that do not.

/** Characters of what is looked for: work on a query grows faster than its length. */
export const MOST_QUERY_CHARS = 2_000;

/** What one argument may be: a part of JSON Schema. */
interface Kind {
  readonly type: "string" | "integer" | "boolean" | "array";
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The arguments of a tool. */
export interface Parameters {
  /** Absent: none. */
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, Kind>>;
}

/** The arguments, without those that say nothing, or what is wrong with them in one sentence. */
export type Checked<Arguments> =
  | { readonly isRight: true; readonly asked: Arguments }
  | { readonly isRight: false; readonly why: string };

/** Pure. */
export function checkArguments<Arguments>(
  tool: string,
  { required = [], properties }: Parameters,
  given: unknown,
): Checked<Arguments> {
  const wrong = (why: string) => ({ isRight: false as const, why: `${tool}: ${why}` });
  if (given !== undefined && given !== null && (typeof given !== "object" || Array.isArray(given)))
    return wrong("the arguments have to be a JSON object.");
  const said = Object.entries(given ?? {}).filter(
    ([name, value]) => !saysNothing(value) || (value === "" && required.includes(name)),
  );
  for (const [name, value] of said) {
    const kind = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (kind === undefined) {
      const names = Object.keys(properties).join(", ");
      return wrong(`there is no argument ${JSON.stringify(name)}; there is: ${names}.`);
    }
    const needed = neededOf(kind, value);
    if (needed !== undefined) return wrong(`${name} has to be ${needed}.`);
  }
  const names = new Set(said.map(([name]) => name));
  const missing = required.find((name) => !names.has(name));
  if (missing !== undefined) return wrong(`${missing} is missing.`);
  return { isRight: true, asked: Object.fromEntries(said) as Arguments };
}

/** Models fill what they leave out: with null, an empty text, an empty list. */
const saysNothing = (value: unknown) =>
  value === undefined ||
  value === null ||
  value === "" ||
  (Array.isArray(value) && value.length === 0);

/** Undefined: `value` is right. */
function neededOf(kind: Kind, value: unknown): string | undefined {
  switch (kind.type) {
    case "string":
      if (kind.enum !== undefined)
        return kind.enum.includes(value as string) ? undefined : `one of ${kind.enum.join(", ")}`;
      if (typeof value !== "string") return "a text";
      if (value.length < (kind.minLength ?? 0)) return "a text that says something";
      return value.length > (kind.maxLength ?? Infinity)
        ? `no longer than ${kind.maxLength} characters, and has ${value.length}`
        : undefined;
    case "boolean":
      return typeof value === "boolean" ? undefined : "true or false";
    case "array":
      return Array.isArray(value) && value.every((item) => typeof item === "string")
        ? undefined
        : "a list of texts";
    case "integer": {
      const { minimum = -Infinity, maximum = Infinity } = kind;
      const isRight = Number.isSafeInteger(value) && (value as number) >= minimum;
      if (isRight && (value as number) <= maximum) return undefined;
      const from = minimum === -Infinity ? "" : `, ${minimum} or more`;
      return `a whole number${from}${maximum === Infinity ? "" : `, at most ${maximum}`}`;
    }
  }
}
