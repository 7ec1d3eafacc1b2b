// Goes on from replies of a session, also from those that are not its newest any more.
import { expect, it } from "vitest";
import { ask, person, results } from "../testing/door-client.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { type HeldReply, heldModel } from "../testing/held-model.ts";

const api = "openai-responses";

async function start() {
  const model = await heldModel();
  const gateway = await startTestGateway({
    ...model.config,
    ...{ door: { mode: "session" }, gateway: { limits: { runningTurns: 1 } } },
  });
  const said = async (words: string, reply: string, more: Record<string, unknown> = {}) => {
    const asked = ask(gateway, api, [person(words)], { more });
    whole(await model.asked(), reply);
    return asked;
  };
  return { ...gateway, model, said };
}

const whole = (reply: HeldReply, text: string) => {
  reply.say(text);
  reply.finish();
};

const notTheNewest = (body: string) =>
  expect(JSON.parse(body)).toMatchObject({
    error: { param: "previous_response_id", code: "previous_response_not_newest" },
  });

it("of two requests that go on from one reply at once, one is told that it is not the newest", async () => {
  const gateway = await start();
  const root = await gateway.said("root", "Yes.");
  const session = root.answer.headers.get("x-clew-session")!;
  // As long as this one runs, neither is stored.
  const other = ask(gateway, api, [person("other")]);
  const busy = await gateway.model.asked();
  const both = ["left", "right"].map((words) =>
    ask(gateway, api, [person(words)], { more: { previous_response_id: root.id } }),
  );
  await expect.poll(() => gateway.gateway.busy()).toEqual({ running: 1, waiting: 2 });
  whole(busy, "Other.");
  await other;
  whole(await gateway.model.asked(), "Gone on.");
  const answers = await Promise.all(both);
  expect(answers.map(({ answer }) => answer.status).sort()).toEqual([200, 400]);
  notTheNewest(answers.find(({ answer }) => answer.status === 400)!.body);
  const stored = await gateway.gateway.messages(session, 9);
  expect(stored?.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  expect(gateway.gateway.busy()).toEqual({ running: 0, waiting: 0 });
});

it("a turn that went on with results of tools is not gone on with from its call", async () => {
  const gateway = await start();
  const tools = ["look"];
  const calling = ask(gateway, api, [person("look")], { tools });
  (await gateway.model.asked()).callTool("look", {});
  const called = await calling;
  const given = results({ id: called.calls[0]!.id, name: "look", text: "a view" });
  const after = (id: string | undefined) => ({ tools, more: { previous_response_id: id } });
  const answering = ask(gateway, api, [given], after(called.id));
  whole(await gateway.model.asked(), "I see.");
  const answered = await answering;

  const fork = await ask(gateway, api, [person("And there?")], after(called.id));
  expect(fork.answer.status).toBe(400);
  notTheNewest(fork.body);
  // The same once more is told again, under the id by which it is gone on with.
  const again = await ask(gateway, api, [given], after(called.id));
  expect(again).toMatchObject({ text: "I see.", id: answered.id });
  const next = ask(gateway, api, [person("And here?")], after(answered.id));
  whole(await gateway.model.asked(), "Here, too.");
  expect((await next).text).toBe("Here, too.");
});
