import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkConfigText } from "../config/load.ts";
import { checkTraces } from "../doctor/check-traces.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { collectLog } from "../testing/plugins.ts";
import { createTracer } from "./tracer.ts";

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number };
}

/** A collector that keeps what it is sent. */
async function startCollector() {
  const bodies: string[] = [];
  const headers: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      bodies.push(body);
      headers.push(`${request.url} ${request.headers["x-key"]}`);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const spans = () =>
    bodies.flatMap((body) => {
      const { resourceSpans } = JSON.parse(body) as {
        resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
      };
      return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((each) => each.spans));
    });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { endpoint, spans, bodies, headers };
}

describe("a turn", () => {
  it("is told to a collector as a span with its steps below it, and not a word of it", async () => {
    const collector = await startCollector();
    const otel = { enabled: true, endpoint: collector.endpoint, headers: { "x-key": "k" } };
    const { say, stop } = await startTestGateway({ diagnostics: { otel } });
    await say("My cat is called Minka.", { session: "nobody-may-know-this" });
    await stop();
    const spans = collector.spans();
    const root = spans.find(({ name }) => name === "clew turn")!;
    expect(root.parentSpanId ?? "").toBe("");
    const below = spans.filter((span) => span !== root);
    expect(below.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["clew assemble", "chat offline", "clew append reply"]),
    );
    for (const span of below) {
      expect([span.traceId, span.parentSpanId]).toEqual([root.traceId, root.spanId]);
      expect(Number(span.startTimeUnixNano)).toBeGreaterThanOrEqual(Number(root.startTimeUnixNano));
    }
    const keys = root.attributes.map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(["clew.engine", "gen_ai.request.model"]));
    expect(collector.headers[0]).toBe("/v1/traces k");
    expect(collector.bodies.join()).not.toMatch(/Minka|Noted|nobody-may-know|agent:/);
    expect(collector.bodies.join()).toContain('"service.name"');
  });

  it("is none of a collector's business unless that is wanted, and no collector keeps it", async () => {
    const { say, gateway } = await startTestGateway();
    await say("hi");
    expect(gateway.host.config.diagnostics.otel.enabled).toBe(false);
    const otel = { enabled: true, endpoint: "http://127.0.0.1:1" };
    const away = await startTestGateway({ diagnostics: { otel } });
    expect((await away.say("My cat is called Minka.")).text).toBe("Noted.");
    await away.stop();
  });

  it("that no collector took is told by the log, once, with how many spans were lost", async () => {
    const otel = { enabled: true, endpoint: "http://127.0.0.1:1" };
    const { say, stop, home } = await startTestGateway({ diagnostics: { otel } });
    await say("hi");
    await say("again");
    await stop();
    const log = await readFile(join(home, "logs/gateway.log"), "utf8");
    expect(
      log.match(/traces are lost: the collector at http:\/\/127\.0\.0\.1:1\/v1\/traces took/g),
    ).toHaveLength(1);
    expect(log).toMatch(/traces: \d+ spans lost in all/);
  });
});

describe("the doctor, asking a collector of traces", () => {
  const found = async (otel: Record<string, unknown>) => {
    const loaded = checkConfigText(JSON.stringify({ diagnostics: { otel } }), "clew.json");
    return (await checkTraces(loaded)).map(({ level, text }) => `${level}: ${text}`);
  };

  it("says whether it takes any, and nothing where none are wanted", async () => {
    const { endpoint } = await startCollector();
    expect(await found({ endpoint: "http://127.0.0.1:1" })).toEqual([]);
    expect(await found({ enabled: true, endpoint })).toEqual([
      `ok: the collector at ${endpoint}v1/traces takes them`,
    ]);
    expect(await found({ enabled: true, endpoint: "http://127.0.0.1:1" })).toEqual([
      expect.stringMatching(
        /^warning: they are lost: nothing answers at http:\/\/127\.0\.0\.1:1\/v1\/traces; start the collector/,
      ),
    ]);
  });
});

it("where the packages are missing the log says once which", async () => {
  const log = collectLog();
  const settings = {
    ...{ enabled: true, endpoint: "http://127.0.0.1:1", serviceName: "clew", sampleRate: 1 },
  };
  const missing = Object.assign(new Error("x"), { code: "ERR_MODULE_NOT_FOUND" });
  const tracer = createTracer({
    ...{ settings, version: "0", log },
    load: () => Promise.reject(missing),
  });
  tracer.begin();
  tracer.begin();
  await tracer.close();
  expect(log.lines.filter((line) => line.includes("install @opentelemetry/api"))).toHaveLength(1);
});
