// Describes the HTTP API as OpenAPI does, from the schemas that its answers have.
import { z } from "zod";
import { UsageSchema } from "../costs/usage.ts";
import { GatewayEventSchema } from "../events/shapes.ts";
import * as callShapes from "../inspect/shapes/calls.ts";
import * as entryShapes from "../inspect/shapes/entries.ts";
import * as foundShapes from "../inspect/shapes/found-text.ts";
import * as oneCallShapes from "../inspect/shapes/one-call.ts";
import * as labShapes from "../lab/shapes.ts";
import { ANSWERS } from "./answers.ts";
import { HTTP_STATUS } from "./errors.ts";
import { MessageBodySchema } from "./message-body.ts";
import { OPERATIONS, type Operation } from "./operations.ts";

export interface ApiRoute {
  method: string;
  path: string;
}

const AnyObject = z.record(z.string(), z.unknown());

const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  ...namedSchemas(callShapes),
  ...namedSchemas(entryShapes),
  ...namedSchemas(foundShapes),
  ...namedSchemas(oneCallShapes),
  ...namedSchemas(labShapes),
  ...ANSWERS,
  Event: GatewayEventSchema,
  Usage: UsageSchema,
  MessageBody: MessageBodySchema,
  Action: z.object({ session: z.string().optional(), payload: z.unknown().optional() }),
  MethodCall: z.object({ params: AnyObject.optional() }),
  AcpMessage: AnyObject,
};

/**
 * Those of the API among all that an app has: no guards, not the page's files, and not the door,
 * where others' APIs are spoken.
 */
export const apiRoutes = (routes: readonly ApiRoute[]): ApiRoute[] =>
  routes.filter(
    ({ method, path }) => method !== "ALL" && !/^\/?\*$/.test(path) && !/^\/v1/.test(path),
  );

/** Pure. An address that nobody described is there, too, and says no more than that. */
export function describeApi(routes: readonly ApiRoute[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path } of apiRoutes(routes)) {
    const place = path.replaceAll(/:(\w+)/g, "{$1}");
    const operation = OPERATIONS[`${method} ${path}`] ?? { summary: "", answer: "Any" };
    const described = describeOperation(path, operation);
    paths[place] = { ...paths[place], [method.toLowerCase()]: described };
  }
  const schemas = Object.entries(SCHEMAS).map(([name, schema]) => [name, jsonSchemaOf(schema)]);
  return {
    openapi: "3.1.0",
    info: {
      title: "Clew gateway",
      version,
      description:
        "The API of one home's gateway. Where there are tokens, every address but those of health wants one. Answers may get further members, and events further types.",
    },
    paths,
    security: [{}, { token: [] }],
    components: {
      schemas: Object.fromEntries(schemas),
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
    },
  };
}

function describeOperation(
  path: string,
  { summary, query, body, answer, unready, errors }: Operation,
) {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    ...{ name, in: "path", required: true, schema: { type: "string" } },
    ...(name === "key" && path.includes("/sessions/") && { description: SESSION_KEY }),
  }));
  const inQuery = Object.entries(query ?? {}).map(([name, description]) => ({
    ...{ name, in: "query", required: false, description, schema: { type: "string" } },
  }));
  return {
    ...(summary !== "" && { summary }),
    ...(inPath.length + inQuery.length > 0 && { parameters: [...inPath, ...inQuery] }),
    ...(body !== undefined && {
      requestBody: { required: true, content: { "application/json": { schema: ref(body) } } },
    }),
    responses: {
      "200": { description: "It went well.", content: contentOf(answer) },
      ...(unready !== undefined && {
        "503": { description: "Not now.", content: contentOf(unready) },
      }),
      ...failures(errors),
    },
  };
}

const SESSION_KEY = "A session's short name, or agent:<agent>:<name>.";

function contentOf(answer: string): object {
  switch (answer) {
    case "text":
      return { "text/plain": { schema: { type: "string" } } };
    case "file":
      return { "application/octet-stream": { schema: { type: "string" } } };
    case "lines":
      return { "application/x-ndjson": { schema: { type: "string" } } };
    case "page":
      return { "text/html": { schema: { type: "string" } } };
    case "events":
      // Each event's data; there is no other way to say so.
      return { "text/event-stream": { schema: ref("Event") } };
    case "turn":
      return { "text/event-stream": { schema: { type: "object", required: ["type"] } } };
    default:
      return { "application/json": { schema: answer in SCHEMAS ? ref(answer) : {} } };
  }
}

function failures(errors: Operation["errors"] = []): object {
  const statuses = new Set<number>(errors.map((code) => HTTP_STATUS[code]));
  const content = { "application/json": { schema: ref("Error") } };
  const told = [...statuses].map((status) => [
    String(status),
    { description: errors.filter((code) => HTTP_STATUS[code] === status).join(", "), content },
  ]);
  const others = { description: "docs/errors.md says what each code means.", content };
  return { ...Object.fromEntries(told), default: others };
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** What clients send may lack what has a default; what they are sent may have more members. */
function jsonSchemaOf(schema: z.ZodType): object {
  const { $schema: _own, ...json } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
  });
  return json;
}

/** `FateSchema` is "Fate". */
function namedSchemas(exported: Readonly<Record<string, unknown>>): Record<string, z.ZodType> {
  const named = Object.entries(exported).flatMap(([name, value]) =>
    value instanceof z.ZodType ? [[name.replace(/Schema$/, ""), value] as const] : [],
  );
  return Object.fromEntries(named);
}
