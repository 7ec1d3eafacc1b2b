import { createEmulator, createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { emulatedModel, startTestGateway } from "../src/testing/gateway.ts";
import { createApi } from "./api.ts";
import { createController } from "./controller.ts";
import { chatItems } from "./live-turn.ts";
import { initialState, listedSessions } from "./page-state.ts";
import { placeAnswers } from "./placed-answers.ts";
import { createStore } from "./store.ts";

function pageOf(url: string, key = "main") {
  const store = createStore(initialState(key));
  const controller = createController({ api: createApi(url), store });
  const shown = () => {
    const { key: current, session, turns, answers } = store.get();
    const placed = placeAnswers(session?.entries ?? [], answers[current]);
    return chatItems(placed, turns[current] ?? null);
  };
  const texts = () =>
    shown().map((item) =>
      item.kind === "reply" ? replyText(item.parts) : item.kind === "mark" ? "" : item.text,
    );
  return { store, controller, shown, texts };
}

const replyText = (parts: readonly { kind: string; text?: string }[]) =>
  parts.map(({ text }) => text ?? "").join("");

describe("the page against a gateway", () => {
  it("starts empty without asking for what is not there, sends, and shows reply and context", async () => {
    const { url } = await startTestGateway();
    const { store, controller, texts } = pageOf(url);
    await controller.poll();
    expect(store.get()).toMatchObject({
      connection: "ok",
      isLoading: false,
      session: null,
      context: null,
    });
    await controller.send("My cat is called Minka.");
    expect(texts()).toEqual(["My cat is called Minka.", "Noted."]);
    expect(store.get()).toMatchObject({
      key: "agent:main:main",
      turns: {},
      problems: {},
      draft: "",
    });
    expect(store.get().context?.messages.map(({ preview }) => preview)).toEqual([
      "My cat is called Minka.",
    ]);
    expect(await controller.readItem("agent:main:main", "messages", 0)).toBe(
      "My cat is called Minka.",
    );
  });

  it("keeps what a turn told of a cost cap in sight behind its reply, until the next message", async () => {
    const server = await createEmulator("openai-completions", {
      answers: () => ({ text: "Fine." }),
    });
    onTestFinished(() => server.close());
    const { url } = await startTestGateway({
      ...emulatedModel(server.baseUrl, { cost: { input: 3, output: 15 } }),
      agents: { defaults: { model: "emulated/emulated" } },
      gateway: { costCaps: { sessionDollars: 1, warnShare: 0.0001 } },
    });
    const { store, controller } = pageOf(url);
    await controller.poll();
    const told = () => Object.values(store.get().told).flat();
    const seen: number[] = [];
    for (const text of ["one", "two", "three"]) {
      await controller.send(text);
      expect(store.get().turns).toEqual({});
      seen.push(told().length);
    }
    expect(seen.toSorted()).toEqual([0, 0, 1]);
  });

  it("shows the answer of a command where it was given, and no message of it", async () => {
    const { url } = await startTestGateway();
    const { store, controller, texts } = pageOf(url);
    const answers = () =>
      texts().map((text) => text.split("\n")[0]?.replace(/^The old one.*/, "The old one"));
    await controller.poll();
    await controller.send("/status");
    expect(store.get()).toMatchObject({ notice: null, turns: {}, problems: {}, draft: "" });
    await controller.send("My cat is called Minka.");
    await controller.send("/status");
    await controller.send("What is my cat called?");
    const model = "Model: offline/offline, window 200,000 tokens";
    expect(answers()).toEqual([
      ...[model, "My cat is called Minka.", "Noted.", model],
      ...["What is my cat called?", expect.stringContaining("Minka")],
    ]);
    await controller.send("/new");
    expect(answers()).toEqual([model, model, expect.stringMatching(/^A new transcript begins\./)]);
    expect(listedSessions(store.get())).toHaveLength(2);
  });

  it("keeps sessions apart, and names new ones by the first free number", async () => {
    const { url } = await startTestGateway();
    const { store, controller, texts } = pageOf(url);
    await controller.poll();
    await controller.send("My cat is called Minka.");
    await controller.openNew();
    expect(listedSessions(store.get()).map(({ key }) => key)).toEqual([
      "chat-1",
      "agent:main:main",
    ]);
    expect(texts()).toEqual([]);
    await controller.send("My dog is called Rex.");
    expect(listedSessions(store.get()).map(({ key }) => key)).toEqual([
      "agent:main:chat-1",
      "agent:main:main",
    ]);
    await controller.open("main");
    expect(texts()[0]).toBe("My cat is called Minka.");
    await controller.openNew();
    expect(store.get().key).toBe("chat-2");
  });

  it("shows what arrives while it arrives, what waits behind it, and stops it", async () => {
    const server = await createOpenAIEmulator({ answers: [{ fault: "hang", text: "begun" }] });
    onTestFinished(() => server.close());
    const { url } = await startTestGateway(emulatedModel(server.baseUrl));
    const { store, controller, shown, texts } = pageOf(url);
    await controller.poll();
    const begun = new Promise<void>((resolve) => {
      const unsubscribe = store.subscribe(() => {
        if (!texts().includes("begun")) return;
        unsubscribe();
        resolve();
      });
    });
    const sent = controller.send("hi");
    await begun;
    expect(store.get().turns.main?.phase).toBe("running");
    await controller.send("not while it runs");
    expect(store.get().waiting).toMatchObject([{ text: "not while it runs", whenBusy: "follow" }]);
    await controller.send("rather left", true);
    expect(store.get().waiting.map(({ whenBusy }) => whenBusy)).toEqual(["follow", "steer"]);
    await controller.send("/waiting");
    expect(store.get().turns.main?.notices.at(-1)).toContain("1. not while it runs");
    await controller.takeBack(store.get().waiting[0]!.id);
    await controller.takeBack();
    expect(store.get().waiting).toEqual([]);
    await controller.stop();
    await sent;
    expect(texts()).toEqual(["hi", "begun"]);
    expect(shown().at(-1)).toMatchObject({ ending: { kind: "stopped" } });
    expect(store.get()).toMatchObject({ turns: {}, problems: {}, draft: "" });
  });

  it("sees what another client says, without being told", async () => {
    const { url, say } = await startTestGateway();
    const { controller, texts } = pageOf(url);
    await controller.poll();
    await say("My cat is called Minka.");
    await controller.poll();
    expect(texts()).toEqual(["My cat is called Minka.", "Noted."]);
  });

  it("says that the gateway is away, gives the message back, and goes on when it is there again", async () => {
    const first = await startTestGateway();
    const { store, controller, texts } = pageOf(first.url);
    await controller.poll();
    await controller.send("My cat is called Minka.");
    await first.stop();
    await controller.send("Are you there?");
    expect(store.get().connection).toBe("away");
    expect(texts()).toEqual(["My cat is called Minka.", "Noted.", "Are you there?"]);

    const second = await startTestGateway({}, first.home);
    const back = pageOf(second.url);
    back.store.set({ ...store.get() });
    await back.controller.poll();
    expect(back.store.get()).toMatchObject({
      connection: "ok",
      draft: "Are you there?",
      turns: {},
    });
    expect(back.texts()).toEqual(["My cat is called Minka.", "Noted."]);
  });

  it("tells a refusal in the gateway's words", async () => {
    const { url } = await startTestGateway();
    const { store, controller } = pageOf(url, "agent:x");
    await controller.poll();
    await controller.send("hi");
    expect(
      Object.values(store.get().problems).concat({ code: "", message: store.get().notice ?? "" }),
    ).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ message: expect.stringContaining("is not a session name") }),
      ]),
    );
  });
});
