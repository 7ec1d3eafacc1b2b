// A Responses request as its rules read it.
import { type At, type JsonObject, list, objects, text } from "../server/json.ts";

export interface ItemAt extends At {
  /** Of an item that says none: "message". */
  type: string;
  index: number;
}

export interface PartAt extends At {
  role: string;
}

export interface ResponsesView {
  body: JsonObject;
  model: string;
  items: readonly ItemAt[];
  /** Content parts of all messages. */
  parts: readonly PartAt[];
  calls: readonly ItemAt[];
  outputs: readonly ItemAt[];
  reasoning: readonly ItemAt[];
  tools: readonly At[];
}

export function createView(body: JsonObject): ResponsesView {
  const items = objects(body.input, "input").map((at, index) => ({
    ...at,
    index,
    type: text(at.value.type) || (at.value.role === undefined ? "" : "message"),
  }));
  const ofType = (type: string) => items.filter((item) => item.type === type);
  return {
    body,
    model: text(body.model),
    items,
    parts: ofType("message").flatMap(({ value, path }) =>
      objects(value.content, `${path}.content`).map((part) => ({
        ...part,
        role: text(value.role),
      })),
    ),
    calls: ofType("function_call"),
    outputs: ofType("function_call_output"),
    reasoning: ofType("reasoning"),
    tools: objects(body.tools, "tools"),
  };
}

/** A text stands for one message of the user. */
export const inputOf = ({ body }: ResponsesView): readonly unknown[] =>
  typeof body.input === "string" ? [{ role: "user", content: body.input }] : list(body.input);
