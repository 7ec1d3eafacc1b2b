import { describe, expect, it } from "vitest";
import { actionOf, BINDINGS, type Pressed } from "./keys.ts";

const press = (key: string, held: Partial<Pressed> = {}) =>
  actionOf({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...held });

describe("keys", () => {
  it("no key has two meanings, and every action is told", () => {
    const keys = BINDINGS.flatMap((binding) => binding.keys);
    expect(new Set(keys).size).toBe(keys.length);
    for (const { action, keys: mine, does } of BINDINGS) {
      expect(does).not.toBe("");
      for (const key of mine) {
        const [shift, name] = key.startsWith("Shift+") ? [true, key.slice(6)] : [false, key];
        expect(press(name, { shiftKey: shift })).toBe(action);
      }
    }
  });

  it("leave alone what a browser has with Ctrl, Alt or ⌘", () => {
    for (const held of ["ctrlKey", "altKey", "metaKey"] as const)
      expect(press("f", { [held]: true })).toBeUndefined();
    expect(press("?", { shiftKey: true })).toBe("help");
  });
});
