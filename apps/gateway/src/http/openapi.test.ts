import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { follow } from "../testing/follower.ts";
import { post, startTestGateway, type TestGateway } from "../testing/gateway.ts";

interface Described {
  openapi: string;
  paths: Record<string, Record<string, { summary?: string; responses: Record<string, Answer> }>>;
  components: { schemas: Record<string, object> };
}
interface Answer {
  content: Record<string, { schema: object }>;
}

async function described({ get }: TestGateway): Promise<Described> {
  return (await (await get("/api/openapi.json")).json()) as Described;
}

/** What is wrong with an answer; null = nothing. */
function checker({ paths, components }: Described) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "api", components });
  return (path: string, method: string, status: number, body: unknown): string | null => {
    const answers = paths[path]![method]!.responses;
    const answer = answers[String(status)] ?? answers.default!;
    const { schema } = Object.values(answer.content)[0]!;
    const text = JSON.stringify(schema).replaceAll('"#/', '"api#/');
    const validate = ajv.compile(JSON.parse(text) as object);
    return validate(body) ? null : ajv.errorsText(validate.errors);
  };
}

describe("the description of the API", () => {
  it("has every address there is, with a summary and answers", async () => {
    const gateway = await startTestGateway();
    const { openapi, paths, components } = await described(gateway);
    expect(openapi).toBe("3.1.0");
    for (const place of [
      ...["/api/health", "/api/events", "/api/sessions/{key}/messages", "/api/plugins/reload"],
      ...["/api/approvals/{id}/{answer}", "/open/{key}", "/api/openapi.json"],
    ])
      expect(Object.keys(paths)).toContain(place);
    const operations = Object.entries(paths).flatMap(([place, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ place, method, operation })),
    );
    expect(operations.length).toBeGreaterThan(20);
    for (const { operation } of operations) expect(operation.responses["200"]).toBeDefined();
    expect(operations.filter(({ operation }) => operation.summary === undefined)).toEqual([]);
    const named = new Set(
      [...JSON.stringify(paths).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
        ([, name]) => name,
      ),
    );
    for (const name of named) expect(Object.keys(components.schemas)).toContain(name);
  });

  it("is what is really answered", async () => {
    const gateway = await startTestGateway();
    const { get, say, url } = gateway;
    const tab = await follow(url);
    await say("My cat is called Minka.");
    await tab.on("done");
    const description = await described(gateway);
    const problemOf = checker(description);
    const values: Record<string, string> = {
      ...{ key: "main", id: "1.1", from: "1.1", to: "1.1", part: "messages", index: "0" },
    };
    const asked: string[] = [];
    for (const [place, methods] of Object.entries(description.paths)) {
      if (methods.get === undefined || /events|openapi|^\/open/.test(place)) continue;
      const path = place.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? name);
      const response = await get(place.endsWith("/find") ? `${path}?text=Minka` : path);
      const isJson = response.headers.get("content-type")?.includes("json") === true;
      const body: unknown = isJson ? await response.json() : await response.text();
      expect([place, problemOf(place, "get", response.status, body)]).toEqual([place, null]);
      if (response.ok) asked.push(place);
    }
    expect(asked).toEqual(
      expect.arrayContaining([
        ...["/api/health", "/api/sessions", "/api/sessions/{key}", "/api/sessions/{key}/context"],
        ...["/api/sessions/{key}/context/{part}/{index}", "/api/engine", "/api/plugins"],
      ]),
    );
    for (const event of tab.events)
      expect([event.type, problemOf("/api/events", "get", 200, event)]).toEqual([event.type, null]);
    const aborted = await get("/api/sessions/main/abort", { method: "POST" });
    const abort = "/api/sessions/{key}/abort";
    expect(problemOf(abort, "post", 200, await aborted.json())).toBeNull();
    const refused = await get("/api/sessions/main/messages", post({}));
    const messages = "/api/sessions/{key}/messages";
    expect(problemOf(messages, "post", refused.status, await refused.json())).toBeNull();
    expect(problemOf("/api/health", "get", 200, { status: "fine" })).not.toBeNull();
  });
});
