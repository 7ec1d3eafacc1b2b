// A Gemini request as its rules read it.
import { isRecord } from "@clew/plugin-sdk/host";
import { type At, type JsonObject, list, objects, record, text } from "../server/json.ts";
import type { Call } from "../server/wire.ts";

export interface PartAt extends At {
  role: string;
  /** Path in the notation of missing values: "GenerateContentRequest.contents[0].parts[0]". */
  content: number;
  index: number;
}

export interface ContentAt extends At {
  /** Absent = "user". */
  role: string;
  index: number;
  parts: readonly PartAt[];
  calls: readonly PartAt[];
  responses: readonly PartAt[];
}

export interface GeminiView {
  /** With the names of its members in camel case, as both ways are read. */
  body: JsonObject;
  model: string;
  /** The models that want signatures and ids back. */
  isThird: boolean;
  /** Asked at the address of a Google Cloud location. */
  isVertex: boolean;
  contents: readonly ContentAt[];
  parts: readonly PartAt[];
  declarations: readonly At[];
}

export const modelOf = (path: string): string => /\/models\/([^/:]+):/.exec(path)?.[1] ?? "";

export const createView = (body: JsonObject, { path }: Pick<Call, "path">): GeminiView =>
  viewOf(body, modelOf(path), /\/publishers\/[^/]+\/models\//.test(path));

export function viewOf(given: JsonObject, model: string, isVertex = false): GeminiView {
  const body = camel(given);
  const contents = objects(body.contents, "contents").map(contentAt);
  return {
    body,
    model,
    isThird: /^gemini-(?:[3-9]|\d\d)/.test(model),
    isVertex,
    contents,
    parts: contents.flatMap(({ parts }) => parts),
    declarations: objects(body.tools, "tools").flatMap(({ value, path: at }) =>
      objects(camel(value).functionDeclarations, `${at}.function_declarations`),
    ),
  };
}

function contentAt({ value, path }: At, index: number): ContentAt {
  const content = camel(value);
  const role = text(content.role ?? "user");
  const parts = objects(content.parts, `${path}.parts`).map((part, place) => ({
    path: part.path,
    value: camel(part.value),
    role,
    content: index,
    index: place,
  }));
  const having = (key: string) => parts.filter((part) => isRecord(part.value[key]));
  return {
    value: content,
    path,
    role,
    index,
    parts,
    calls: having("functionCall"),
    responses: having("functionResponse"),
  };
}

/** The first level only: what is below belongs to others. */
const camel = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      item,
    ]),
  );

export const callOf = ({ value }: PartAt): JsonObject => record(value.functionCall);
export const responseOf = ({ value }: PartAt): JsonObject => record(value.functionResponse);
export const inlineOf = ({ value }: PartAt): JsonObject => camel(record(value.inlineData));
export const generationOf = ({ body }: Pick<GeminiView, "body">): JsonObject =>
  camel(record(body.generationConfig));
export const thinkingOf = (view: Pick<GeminiView, "body">): JsonObject =>
  camel(record(generationOf(view).thinkingConfig));

/** Standard or web alphabet, padded or not; images are too long for a repetition to match. */
export function isBytes(value: unknown): boolean {
  const data = text(value).replace(/={1,2}$/, "");
  return data.length % 4 !== 1 && !/[^A-Za-z0-9+/_-]/.test(data);
}

export const partsCount = (value: unknown): number => list(value).length;
