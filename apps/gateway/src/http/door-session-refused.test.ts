// Sends to sessions of the door what cannot be answered.
import { expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../config/door.ts";
import { startUpstream, type UpstreamHeard } from "../door/testing/upstream.ts";
import { ask, person, results } from "../testing/door-client.ts";
import { startTestDoor } from "../testing/test-door.ts";

/** `answer`: of the model server, a status and a body. */
async function start(answer: (heard: UpstreamHeard) => readonly [number, object]) {
  let count = 0;
  const upstream = await startUpstream((heard, response) => {
    count++;
    const [status, body] = answer(heard);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  onTestFinished(upstream.close);
  const settings = { agents: { defaults: { model: "chat/model" } } };
  return { ...(await startTestDoor(upstream, { settings })), asked: () => count };
}

it.each(DOOR_APIS)(
  "a client of %s is told what its model server refused by its status",
  async (api) => {
    let refused = 0;
    const error = { message: "Not for you.", type: "invalid_request_error" };
    const gateway = await start(() => [refused, { error }]);
    for (const status of [404, 403, 401]) {
      refused = status;
      const { answer } = await ask(gateway, api, [person("one")], { session: `s${status}` });
      expect(answer.status).toBe(status);
    }
  },
);

it.each(DOOR_APIS)(
  "by %s, a result of a call that nobody made is refused, and no model is asked",
  async (api) => {
    const message = { role: "assistant", content: "Good day to you." };
    const gateway = await start(() => [200, { choices: [{ message, finish_reason: "stop" }] }]);
    const sent = { session: "work", tools: ["look"] };
    const stored = async () =>
      (await gateway.gateway.messages("work", 9))?.map(({ role }) => role) ?? [];
    await ask(gateway, api, [person("Good day.")], sent);
    const given = results({ id: "call_never", name: "never", text: "a view" });
    const { answer, body } = await ask(gateway, api, [given], sent);
    expect(answer.status).toBe(400);
    expect(body).toMatch(/This session has no call .*never.*, so nothing waits for its result/);
    expect(gateway.asked()).toBe(1);
    expect(await stored()).toEqual(["user", "assistant"]);

    const call = { id: "call_mine", name: "look", args: {} };
    const brought = [
      person("What do you see?"),
      { uid: null, by: "model" as const, text: "", calls: [call] },
      results({ id: "call_mine", name: "look", text: "a view" }),
    ];
    expect((await ask(gateway, api, brought, sent)).answer.status).toBe(200);
  },
);
