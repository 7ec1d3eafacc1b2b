import { describe, expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";

describe("GET /api/sessions/:key/status", () => {
  it("tells what /status tells, also before the first message, and tells nobody else", async () => {
    const host = await startTestGateway();
    const status = async () => (await host.get("/api/sessions/main/status")).json();
    expect(await status()).toMatchObject({
      key: "agent:main:main",
      model: { provider: "offline", id: "offline" },
      context: { messageCount: 0 },
      cost: { spent: { modelCalls: 0 } },
    });
    await host.say("My cat is called Minka.");
    const { events } = await host.say("/status");
    const { data } = events.find(({ type }) => type === "command")!;
    expect(await status()).toEqual(JSON.parse(JSON.stringify(data)));
  });
});
