// Rules of the Gemini wire about function calls, their responses and declarations.
import { isRecord } from "@clew/plugin-sdk/host";
import { first, type JsonObject, record, repeated, text, words } from "../../server/json.ts";
import { compat, rejects, type WireRule } from "../../server/wire.ts";
import { type ContentAt, callOf, type GeminiView, responseOf } from "../view.ts";

const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const IN_SCHEMA = words(
  `type format title description nullable enum items maxItems minItems properties required
  minProperties maxProperties minimum maximum minLength maxLength pattern example anyOf
  propertyOrdering default`,
);
const calls = ({ contents }: GeminiView) => contents.flatMap((content) => content.calls);
const responses = ({ contents }: GeminiView) => contents.flatMap((content) => content.responses);
const missing = (path: string) => `* GenerateContentRequest.${path}`;

/** A turn of responses with the turn before it. */
const answers = ({ contents }: GeminiView) =>
  contents
    .filter((content) => content.responses.length > 0)
    .map((content) => ({ content, asking: contents[content.index - 1] }));

export const FUNCTION_RULES: readonly WireRule<GeminiView>[] = [
  rejects("call.position", ({ contents }) =>
    first(
      contents,
      ({ calls: made, role, index }) =>
        made.length > 0 &&
        role === "model" &&
        (index === 0 || contents[index - 1]?.role === "model"),
      () =>
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    ),
  ),
  rejects("response.position", (view) =>
    first(
      answers(view),
      ({ asking }) => asking === undefined || asking.calls.length === 0,
      () =>
        "Please ensure that function response turn comes immediately after a function call turn.",
    ),
  ),
  rejects("response.count", ({ contents }) =>
    first(
      contents.slice(0, -1),
      ({ calls: made, index }) =>
        made.length > 0 && contents[index + 1]!.responses.length !== made.length,
      () =>
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    ),
  ),
  rejects("response.name", (view) =>
    first(
      responses(view),
      (part) => text(responseOf(part).name) === "",
      ({ path }) => missing(`${path}.function_response.name: Name cannot be empty.`),
    ),
  ),
  compat("response.name_match", (view) =>
    first(
      answers(view),
      ({ content, asking }) =>
        asking !== undefined && sameCount(content, asking) && !sameValues(content, asking, "name"),
      () => "The names of the function responses differ from those of the function calls.",
    ),
  ),
  rejects("response.id_match", (view) =>
    view.isThird
      ? first(
          answers(view),
          ({ content, asking }) =>
            asking !== undefined &&
            sameCount(content, asking) &&
            !sameValues(content, asking, "id"),
          () => "The ids of the function responses differ from those of the function calls.",
        )
      : undefined,
  ),
  rejects("response.struct", (view) =>
    first(
      responses(view),
      (part) => !isRecord(responseOf(part).response),
      ({ path }) => notStruct(`${path}.function_response.response`),
    ),
  ),
  rejects("call.args", (view) =>
    first(
      calls(view),
      (part) => callOf(part).args !== undefined && !isRecord(callOf(part).args),
      ({ path }) => notStruct(`${path}.function_call.args`),
    ),
  ),
  rejects("call.name", (view) =>
    first(
      calls(view),
      (part) => !NAME.test(text(callOf(part).name)),
      (part) =>
        missing(
          `${part.path}.function_call.name: ${text(callOf(part).name) === "" ? "Name cannot be empty." : "Invalid function name."}`,
        ),
    ),
  ),
  rejects("signature.required", unsignedCall),
  rejects("tools.name", ({ declarations }) =>
    first(
      declarations,
      ({ value }) => !NAME.test(text(value.name)),
      ({ path }) =>
        missing(
          `${path}.name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.`,
        ),
    ),
  ),
  rejects("tools.duplicate", ({ declarations }) => {
    const twice = repeated(declarations.map(({ value }) => text(value.name)));
    return twice === undefined ? undefined : `Duplicate function declaration found: ${twice}`;
  }),
  rejects("tools.schema", ({ declarations }) => {
    for (const { value, path } of declarations) {
      const found = unknownInSchema(value.parameters, `${path}.parameters`);
      if (found !== undefined) return found;
    }
    return undefined;
  }),
  rejects("id.unknown_field", (view) =>
    view.isVertex && /^gemini-[12]/.test(view.model)
      ? first(
          [...calls(view), ...responses(view)],
          (part) => callOf(part).id !== undefined || responseOf(part).id !== undefined,
          ({ path, value }) =>
            `Invalid JSON payload received. Unknown name "id" at '${path}.${isRecord(value.functionCall) ? "function_call" : "function_response"}': Cannot find field.`,
        )
      : undefined,
  ),
];

const notStruct = (path: string) =>
  `Invalid value at '${path}' (type.googleapis.com/google.protobuf.Struct)`;

const sameCount = (answering: ContentAt, asking: ContentAt) =>
  asking.calls.length > 0 && answering.responses.length === asking.calls.length;

function sameValues(answering: ContentAt, asking: ContentAt, key: "name" | "id"): boolean {
  const given = answering.responses.map((part) => text(responseOf(part)[key])).sort();
  const wanted = asking.calls.map((part) => text(callOf(part)[key])).sort();
  return given.every((value, index) => value === wanted[index]);
}

/** The first call of each step since the person last spoke must bring its signature. */
function unsignedCall({ contents, isThird }: GeminiView): string | undefined {
  if (!isThird) return undefined;
  const begins = contents.findLastIndex(
    ({ role, responses: given, parts }) =>
      role === "user" && given.length === 0 && parts.length > 0,
  );
  for (const { calls: made } of contents.slice(begins + 1)) {
    const [part] = made;
    if (part !== undefined && text(part.value.thoughtSignature) === "")
      return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${text(callOf(part).name)}\` , position ${part.content + 1}.`;
  }
  return undefined;
}

function unknownInSchema(schema: unknown, path: string): string | undefined {
  if (!isRecord(schema)) return undefined;
  const key = Object.keys(schema).find((name) => !IN_SCHEMA.has(name));
  if (key !== undefined)
    return `Invalid JSON payload received. Unknown name "${key}" at '${path}': Cannot find field.`;
  return below(schema)
    .map(([at, value]) => unknownInSchema(value, `${path}.${at}`))
    .find((found) => found !== undefined);
}

const below = ({ properties, items, anyOf }: JsonObject): [string, unknown][] => [
  ...Object.values(record(properties)).map((value, index): [string, unknown] => [
    `properties[${index}].value`,
    value,
  ]),
  ["items", items],
  ...(Array.isArray(anyOf) ? anyOf : []).map((value, index): [string, unknown] => [
    `any_of[${index}]`,
    value,
  ]),
];
