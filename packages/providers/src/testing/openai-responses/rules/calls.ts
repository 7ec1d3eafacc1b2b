// Rules of the Responses wire about function calls and their outputs.
import { first, parseObject, repeated, text } from "../../server/json.ts";
import { compat, rejects, type WireRule } from "../../server/wire.ts";
import type { ItemAt, ResponsesView } from "../view.ts";

const LONGEST = 64;
const callId = ({ value }: ItemAt) => text(value.call_id);
const withCallId = ({ calls, outputs }: ResponsesView) => [...calls, ...outputs];

export const CALL_RULES: readonly WireRule<ResponsesView>[] = [
  rejects("call_id.required", (view) =>
    first(
      withCallId(view),
      (item) => callId(item) === "",
      ({ path }) => `Missing required parameter: '${path}.call_id'.`,
    ),
  ),
  rejects("call_id.length", (view) =>
    first(
      withCallId(view),
      (item) => callId(item).length > LONGEST,
      (item) =>
        `Invalid '${item.path}.call_id': string too long. Expected a string with maximum length ${LONGEST}, but got a string with length ${callId(item).length} instead.`,
    ),
  ),
  compat("call_id.duplicate", ({ calls, outputs }) => {
    const twice = repeated(calls.map(callId)) ?? repeated(outputs.map(callId));
    return twice === undefined ? undefined : `the call_id '${twice}' is used twice`;
  }),
  rejects("function_call.name", ({ calls }) =>
    first(
      calls,
      ({ value }) => !/^[a-zA-Z0-9_-]+$/.test(text(value.name)),
      ({ path }) =>
        `Invalid '${path}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    ),
  ),
  rejects("function_call.arguments", ({ calls }) =>
    first(
      calls,
      ({ value }) => typeof value.arguments !== "string",
      ({ path }) =>
        `Invalid type for '${path}.arguments': expected a string, but got an object instead.`,
    ),
  ),
  compat("function_call.arguments_json", ({ calls }) =>
    first(
      calls,
      ({ value }) =>
        typeof value.arguments === "string" && parseObject(value.arguments) === undefined,
      ({ path }) => `'${path}.arguments' is not a JSON object`,
    ),
  ),
  rejects("function_call.unanswered", ({ calls, outputs }) =>
    first(
      calls,
      without(outputs),
      (call) => `No tool output found for function call ${callId(call)}.`,
    ),
  ),
  rejects("output.orphan", ({ calls, outputs }) => first(outputs, without(calls), withoutCall)),
  rejects("output.order", ({ calls, outputs }) => {
    const placeOf = new Map(calls.map((call) => [callId(call), call.index]));
    return first(
      outputs,
      (output) => (placeOf.get(callId(output)) ?? 0) > output.index,
      withoutCall,
    );
  }),
  rejects("output.value", ({ outputs }) =>
    first(
      outputs,
      ({ value }) => typeof value.output !== "string" && !Array.isArray(value.output),
      ({ path, value }) =>
        value.output == null
          ? `Missing required parameter: '${path}.output'.`
          : `Invalid type for '${path}.output': expected one of a string or array of objects, but got an object instead.`,
    ),
  ),
];

/** True of an item that none of `others` belongs to. */
const without = (others: readonly ItemAt[]) => {
  const ids = new Set(others.map(callId));
  return (item: ItemAt) => !ids.has(callId(item));
};

const withoutCall = (output: ItemAt) =>
  `No tool call found for function call output with call_id ${callId(output)}.`;
