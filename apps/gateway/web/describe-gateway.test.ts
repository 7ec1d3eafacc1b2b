import { describe, expect, it } from "vitest";
import { describeGateway } from "./describe-gateway.ts";

const health = (running: number, waiting: number, notReady: string[] = []) => ({
  ...{ model: "house/large", turns: { running, waiting }, notReady },
});

describe("the line about the gateway", () => {
  it("names the model, and what turns there are", () => {
    expect(describeGateway("ok", health(0, 0))).toEqual({ mood: "ok", text: "house/large" });
    expect(describeGateway("ok", health(2, 0))).toMatchObject({ mood: "ok", turns: "2 running" });
    const busy = { mood: "busy", text: "house/large", turns: "4 running, 1 waiting" };
    expect(describeGateway("ok", health(4, 1))).toEqual(busy);
  });

  it("says first that it takes no message", () => {
    const stopping = health(1, 0, ["The gateway is stopping."]);
    expect(describeGateway("ok", stopping)).toEqual({
      ...{ mood: "not-ready", text: "not ready", turns: "1 running" },
    });
  });

  it("knows nothing of one that is away, and little of one of an earlier version", () => {
    const away = { mood: "away", text: "not answering" };
    expect(describeGateway("away", health(3, 3))).toEqual(away);
    expect(describeGateway("connecting", null).text).toBe("connecting…");
    expect(describeGateway("ok", { model: "m" })).toEqual({ mood: "ok", text: "m" });
  });
});
