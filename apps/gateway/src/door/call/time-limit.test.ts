// Lets replies at the door take longer than turns may, and reads what their clients are told.
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { ask, person, type Sent } from "../../testing/door-client.ts";
import { post } from "../../testing/gateway.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { startHeldUpstream } from "../testing/held-upstream.ts";
import { startUpstream } from "../testing/upstream.ts";
import type { DoorApi } from "../wires/door-wire.ts";

const settings = {
  agents: { defaults: { model: "chat/model", timeoutSeconds: 1 } },
  gateway: { limits: { runningTurns: 8 } },
};

/** What the wire calls it, whole and in the middle of a stream. */
const KINDS = {
  "openai-completions": ['"type":"server_error"', '"type":"server_error"'],
  "openai-responses": ['"type":"server_error"', '"code":"server_error"'],
  "anthropic-messages": ['"type":"timeout_error"', '"type":"timeout_error"'],
  "google-generative-ai": ['"status":"DEADLINE_EXCEEDED"', '"status":"DEADLINE_EXCEEDED"'],
} as const;

async function silentUpstream() {
  const upstream = await startUpstream(() => {});
  onTestFinished(upstream.close);
  return upstream;
}

const MODES: Record<string, (of: string) => Sent> = {
  "with a history of its own": () => ({ model: "model" }),
  "in a session": (of) => ({ session: of }),
};

describe.each(Object.keys(MODES))("a reply %s that takes longer than turns may", (mode) => {
  const sent = (api: string, streaming: boolean) => ({
    ...MODES[mode]!(`${api}-${streaming}`),
    streaming,
  });

  it("is a timeout on each wire, and no SDK sends its request again", async () => {
    const door = await startTestDoor(await silentUpstream(), { settings });
    const whole = async (api: DoorApi, streaming: boolean) => {
      const said = [person(`Why, ${api} ${streaming}?`)];
      const { answer, body } = await ask(door, api, said, sent(api, streaming));
      expect(answer.status).toBe(504);
      expect(answer.headers.get("x-should-retry")).toBe("false");
      expect(body).toContain(KINDS[api][0]);
      expect(body).toContain("agents.defaults.timeoutSeconds");
    };
    await Promise.all(DOOR_APIS.flatMap((api) => [whole(api, false), whole(api, true)]));
  });

  it("is a timeout in a stream that has begun, too", async () => {
    const door = await startTestDoor(await startHeldUpstream(), { settings });
    const inStream = async (api: DoorApi) => {
      const { answer, body } = await ask(door, api, [person(`Why, ${api}?`)], sent(api, true));
      expect(answer.status).toBe(200);
      expect(body).toContain(KINDS[api][1]);
      expect(body).toContain("agents.defaults.timeoutSeconds");
    };
    await Promise.all(DOOR_APIS.map(inStream));
  });
});

it("a turn of the HTTP API that takes too long failed by a timeout", async () => {
  const door = await startTestDoor(await silentUpstream(), { settings });
  const answer = await door.get("/api/sessions/work/messages", post({ text: "Why?" }));
  const done = (await answer.text()).split("\n").findLast((line) => line.startsWith("data:"))!;
  expect(JSON.parse(done.slice("data:".length))).toMatchObject({
    ...{ type: "done", outcome: "failed" },
    error: { kind: "timeout", message: expect.stringContaining("agents.defaults.timeoutSeconds") },
  });
});
