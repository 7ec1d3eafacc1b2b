// Rules of the Responses wire about the items of its input.
import { isImageUrl } from "../../server/image-url.ts";
import { first, record, repeated, text, words } from "../../server/json.ts";
import { compat, rejects, type WireRule } from "../../server/wire.ts";
import type { ItemAt, PartAt, ResponsesView } from "../view.ts";

const ROLES = words("assistant system developer user");
const BY_USERS = words("input_text input_image input_file input_audio");
const BY_MODELS = words("output_text refusal");

/** Fields of the items that clients write; of the others nothing is known to be refused. */
const FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  message: words("type role content id status phase"),
  function_call: words("type id call_id name arguments status namespace caller async"),
  function_call_output: words("type id call_id output status name namespace caller"),
  reasoning: words("type id summary content encrypted_content status"),
};
const OTHER_ITEMS = words(
  `item_reference compaction compaction_trigger custom_tool_call custom_tool_call_output
  file_search_call web_search_call computer_call computer_call_output code_interpreter_call
  image_generation_call local_shell_call local_shell_call_output shell_call shell_call_output
  apply_patch_call apply_patch_call_output mcp_list_tools mcp_approval_request mcp_approval_response
  mcp_call tool_search_call tool_search_output additional_tools configuration_update program
  program_output`,
);

/** How an id must begin, by the type of its item. */
const PREFIX: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  reasoning: "rs",
};
const LONGEST_ID = 64;
const idOf = ({ value }: ItemAt) => text(value.id);
const withId = ({ items }: ResponsesView) =>
  items.filter((item) => idOf(item) !== "" && item.type in PREFIX);
const allowed = ({ role }: PartAt) => (role === "assistant" ? BY_MODELS : BY_USERS);
const isOfModel = ({ type, value }: ItemAt) =>
  (type === "message" && value.role === "assistant") || /_call$|^reasoning$|^program$/.test(type);

export const ITEM_RULES: readonly WireRule<ResponsesView>[] = [
  rejects("item.type", ({ items }) =>
    first(
      items,
      ({ type }) => !(type in FIELDS) && !OTHER_ITEMS.has(type),
      ({ type }) =>
        `Invalid value: '${type}'. Supported values are: 'message', 'function_call', 'function_call_output', 'reasoning', and others.`,
    ),
  ),
  rejects("item.unknown_field", ({ items }) =>
    first(
      items.flatMap((item) => Object.keys(item.value).map((key) => ({ key, item }))),
      ({ key, item }) => FIELDS[item.type]?.has(key) === false,
      ({ key, item }) => `Unknown parameter: '${item.path}.${key}'.`,
    ),
  ),
  rejects("message.role", ({ items }) =>
    first(
      items,
      ({ type, value }) => type === "message" && !ROLES.has(text(value.role)),
      ({ value }) =>
        `Invalid value: '${text(value.role)}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
    ),
  ),
  rejects("message.content", ({ items }) =>
    first(
      items,
      ({ type, value }) =>
        type === "message" && typeof value.content !== "string" && !Array.isArray(value.content),
      ({ path, value }) =>
        `Invalid type for '${path}.content': expected one of an array of objects or string, but got ${value.content == null ? "null" : `an ${typeof value.content}`} instead.`,
    ),
  ),
  compat("message.content_empty", ({ items }) =>
    first(
      items,
      ({ type, value }) =>
        type === "message" && Array.isArray(value.content) && value.content.length === 0,
      ({ path }) =>
        `Invalid '${path}.content': empty array. Expected an array with minimum length 1.`,
    ),
  ),
  rejects("part.type", ({ parts }) =>
    first(
      parts,
      (part) => ROLES.has(part.role) && !allowed(part).has(text(part.value.type)),
      (part) =>
        `Invalid value: '${text(part.value.type)}'. Supported values are: ${[...allowed(part)].map((type) => `'${type}'`).join(" and ")}.`,
    ),
  ),
  rejects("part.text", ({ parts }) =>
    first(
      parts,
      ({ value }) =>
        (value.type === "input_text" || value.type === "output_text") &&
        typeof value.text !== "string",
      ({ path }) => `Invalid type for '${path}.text': expected a string`,
    ),
  ),
  rejects("part.breakpoint", ({ parts }) =>
    first(
      parts,
      ({ value }) =>
        value.prompt_cache_breakpoint != null &&
        text(record(value.prompt_cache_breakpoint).mode) !== "explicit",
      ({ path }) => `Missing required parameter: '${path}.prompt_cache_breakpoint.mode'.`,
    ),
  ),
  rejects("part.image", ({ parts }) =>
    first(
      parts,
      ({ value }) =>
        value.type === "input_image" && value.file_id == null && !isImageUrl(text(value.image_url)),
      ({ path }) =>
        `Invalid '${path}.image_url'. Expected a base64-encoded data URL with an image MIME type`,
    ),
  ),
  rejects("id.prefix", (view) =>
    first(
      withId(view),
      (item) => !idOf(item).startsWith(PREFIX[item.type]!),
      (item) =>
        `Invalid '${item.path}.id': '${idOf(item)}'. Expected an ID that begins with '${PREFIX[item.type]}'.`,
    ),
  ),
  rejects("id.charset", (view) =>
    first(
      withId(view),
      (item) => !/^[a-zA-Z0-9_-]+$/.test(idOf(item)),
      (item) =>
        `Invalid '${item.path}.id': '${idOf(item)}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.`,
    ),
  ),
  rejects("id.length", (view) =>
    first(
      withId(view),
      (item) => idOf(item).length > LONGEST_ID,
      (item) =>
        `Invalid '${item.path}.id': string too long. Expected a string with maximum length ${LONGEST_ID}, but got a string with length ${idOf(item).length} instead.`,
    ),
  ),
  compat("id.trailing_underscore", (view) =>
    first(
      withId(view),
      (item) => idOf(item).length === LONGEST_ID && idOf(item).endsWith("_"),
      (item) => `Invalid '${item.path}.id': '${idOf(item)}'.`,
    ),
  ),
  rejects("id.duplicate", (view) => {
    const twice = repeated(withId(view).map(idOf));
    return twice === undefined
      ? undefined
      : `Duplicate item found with id ${twice}. Remove duplicate items from your input and try again.`;
  }),
  rejects("reasoning.id", ({ reasoning }) =>
    first(
      reasoning,
      (item) => idOf(item) === "" && item.value.encrypted_content == null,
      ({ path }) => `Missing required parameter: '${path}.id'.`,
    ),
  ),
  rejects("reasoning.summary", ({ reasoning }) =>
    first(
      reasoning,
      ({ value }) => !Array.isArray(value.summary),
      ({ path }) => `Missing required parameter: '${path}.summary'.`,
    ),
  ),
  rejects("reasoning.encrypted", ({ reasoning }) =>
    first(
      reasoning,
      ({ value }) => value.encrypted_content != null && typeof value.encrypted_content !== "string",
      ({ path }) => `Invalid type for '${path}.encrypted_content': expected a string`,
    ),
  ),
  rejects("reasoning.orphan", ({ items, reasoning }) =>
    first(
      reasoning,
      (item) => {
        const next = items[item.index + 1];
        return idOf(item) !== "" && (next === undefined || !isOfModel(next));
      },
      (item) =>
        `Item '${idOf(item)}' of type 'reasoning' was provided without its required following item.`,
    ),
  ),
  rejects(
    "reasoning.not_stored",
    ({ body, reasoning }) =>
      body.store === false
        ? first(
            reasoning,
            (item) => idOf(item) !== "" && item.value.encrypted_content == null,
            (item) => notStored(idOf(item)),
          )
        : undefined,
    { status: 404 },
  ),
];

export const notStored = (id: string): string =>
  `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
