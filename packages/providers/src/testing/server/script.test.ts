import { expect, it } from "vitest";
import { createEmulator, emulatedFlavors, readEmulatorScript } from "../../testing.ts";

it("takes replies and faults as they are", () => {
  const script = [
    { text: "Hi.", toolCalls: [{ name: "read", arguments: {} }], usage: null },
    { fault: "status", status: 500 },
    { fault: "bomb" },
  ];
  expect(readEmulatorScript(script)).toEqual(script);
});

it.each([
  [{}, "A script is a JSON list of answers"],
  [[], "A script is a JSON list of answers"],
  [["hi"], "Answer 1 of the script is no object"],
  [[{ text: "a" }, { fault: "nosuch" }], 'Answer 2 of the script names an unknown fault "nosuch"'],
  [[{ txt: "hi" }], 'has an unknown field "txt"; a reply may have: text, thinking'],
  [[{ fault: "cut", txt: "hi" }], 'the fault "cut" may have: fault, text'],
  [[{ fault: "overflow" }], 'lacks "window"'],
])("refuses %j and says what may stand there", (script, words) => {
  expect(() => readEmulatorScript(script)).toThrow(words);
});

it("an emulator refuses a flavor whose rules it does not know", async () => {
  expect(emulatedFlavors("openai-completions")).toContain("openrouter");
  await expect(createEmulator("openai-completions", { flavor: "nosuch" })).rejects.toThrow(
    'knows no flavor "nosuch"; it knows: openai',
  );
  await expect(createEmulator("openai-responses", { flavor: "groq" })).rejects.toThrow("none");
});
