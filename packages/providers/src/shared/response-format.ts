// Says which format of an answer a call wants and a wire cannot ask for.
import type { ModelCall } from "@clew/plugin-sdk/host";

/** Nothing, or one text; `why` completes "the format of the answer, which …". */
export const formatLeftOut = (
  { responseFormat }: ModelCall,
  { takes, why }: { takes: boolean; why: string },
): readonly string[] =>
  responseFormat === undefined || responseFormat.type === "text" || takes
    ? []
    : [`the format of the answer (${NAMES[responseFormat.type]}), which ${why}`];

const NAMES = { json: "JSON", json_schema: "JSON by a schema" } as const;

/** Of wires that know a format by its schema only. */
export const schemaOnly = (call: ModelCall): readonly string[] =>
  formatLeftOut(call, {
    takes: call.responseFormat?.type === "json_schema",
    why: `${call.model.api} knows only with a schema`,
  });
