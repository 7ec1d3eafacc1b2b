import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { emulatedModel, startTestGateway } from "../testing/gateway.ts";
import { createTally } from "./tally.ts";

/** Lines without comments, by what stands before the value. */
async function numbers(get: (path: string) => Promise<Response>): Promise<Map<string, number>> {
  const answer = await get("/metrics");
  expect(answer.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  const lines = (await answer.text()).split("\n").filter((line) => /^[a-z]/.test(line));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

describe("the numbers of a gateway", () => {
  it("count turns, calls, tokens, dollars, engine calls and the process from the start on", async () => {
    const server = await createOpenAIEmulator({ answers: [{ text: "Hello there." }] });
    onTestFinished(() => server.close());
    const cost = { input: 1, output: 10, cacheRead: 0.1, cacheWrite: 1 };
    const { get, say } = await startTestGateway(emulatedModel(server.baseUrl, { cost }));
    await say("a secret name", { session: "nobody-may-know-this" });
    await say("once more");
    const found = await numbers(get);
    const model = 'model="emulated/emulated"';
    expect(found.get('clew_turns_total{outcome="completed",engine="legacy"}')).toBe(2);
    expect(found.get(`clew_model_calls_total{${model},purpose="reply",outcome="ok"}`)).toBe(2);
    expect(found.get(`clew_tokens_total{${model},kind="output"}`)).toBeGreaterThan(0);
    expect(found.get(`clew_cost_dollars_total{${model}}`)).toBeGreaterThan(0);
    expect(found.get("clew_turn_duration_seconds_count")).toBe(2);
    expect(found.get('clew_turn_duration_seconds_bucket{le="+Inf"}')).toBe(2);
    expect(found.get("clew_turn_duration_seconds_sum")).toBeGreaterThan(0);
    expect(
      found.get('clew_engine_calls_total{engine="legacy",method="assemble",outcome="ok"}'),
    ).toBe(2);
    expect([found.get("clew_turns_running"), found.get("clew_turns_waiting")]).toEqual([0, 0]);
    expect(found.get("clew_sessions_open")).toBe(2);
    // Where nothing was counted yet it is left out.
    for (const [name, value] of found)
      if (name.startsWith("nodejs_eventloop_lag"))
        expect([name, value < 3600]).toEqual([name, true]);
    expect(found.get("process_resident_memory_bytes")).toBeGreaterThan(0);
    const { user, system } = process.cpuUsage();
    const taken = found.get("process_cpu_seconds_total")!;
    expect(taken).toBeGreaterThan((user + system) / 1e6 / 2);
    expect(taken).toBeLessThanOrEqual((user + system) / 1e6);
    const names = [...found.keys()].join("\n");
    expect(names).not.toMatch(/nobody-may-know|main|secret/);
    expect([...(await numbers(get)).keys()].filter((name) => name.startsWith("clew_"))).toEqual(
      [...found.keys()].filter((name) => name.startsWith("clew_")),
    );
  });

  it("tell errors by kind, and a turn that failed", async () => {
    const { get, say } = await startTestGateway(emulatedModel("http://127.0.0.1:1/v1"));
    expect((await say("hi")).events.at(-1)).toMatchObject({ outcome: "failed" });
    const found = [...(await numbers(get)).keys()];
    expect(found).toContain('clew_turns_total{outcome="failed",engine="legacy"}');
    expect(found.find((name) => name.startsWith("clew_turn_errors_total"))).toMatch(/kind="\w+"/);
    expect(found.find((name) => name.startsWith("clew_model_errors_total"))).toMatch(/kind="\w+"/);
  });

  it("have labels that do not grow with what is asked for", () => {
    const tally = createTally();
    const modelCall = { durationMs: 1, retries: 0, usage: null, error: null };
    for (let at = 0; at < 500; at++)
      tally.take({
        ...{ outcome: "completed", durationMs: 1, hostMs: 1, engine: { ran: "legacy" } },
        model: { resolved: `house/model-${at}` },
        ...{ engineCalls: [], toolCalls: [], compactions: [], modelCalls: [modelCall] },
      } as unknown as Parameters<typeof tally.take>[0]);
    const calls = tally.counted.find(({ name }) => name === "clew_model_calls_total")!;
    expect(calls.values.size).toBe(101);
    const values = [...calls.values.values()];
    expect(values.find(({ labels }) => labels.model === "other")?.value).toBe(400);
  });
});

describe("readiness", () => {
  it("ends with the gateway, and says why to whoever may know", async () => {
    const { get, gateway } = await startTestGateway();
    expect((await get("/readyz")).status).toBe(200);
    const closing = gateway.close();
    const answer = await get("/readyz");
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { status: "not-ready", reasons: ["The gateway is stopping."] },
    ]);
    expect((await get("/healthz")).status).toBe(200);
    await closing;
  });
});
