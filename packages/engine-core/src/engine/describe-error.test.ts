import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeError } from "./describe-error.ts";

const circular: Record<string, unknown> = { step: "load" };
circular.self = circular;

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const withMessage = (message: unknown) => Object.assign(new Error(), { message });

const throwing = Object.defineProperties(
  {},
  {
    message: {
      get() {
        throw new Error("no message");
      },
    },
    toString: {
      value() {
        throw new Error("no text");
      },
    },
    toJSON: {
      value() {
        throw new Error("no json");
      },
    },
  },
);

describe("whatever was thrown is described in one line", () => {
  const thrown: [() => unknown, string][] = [
    [() => new Error("no \u001b[31mdatabase\n here"), "no database here"],
    [() => "plain text", "plain text"],
    [() => ({ message: "from another realm" }), "from another realm"],
    [() => ({ status: 503 }), '{"status":503}'],
    [() => circular, "an object with step, self"],
    [() => ({ size: 1n }), "an object with size"],
    [() => 1n, "1"],
    [() => Symbol("s"), "Symbol(s)"],
    [() => undefined, "undefined"],
    [() => null, "null"],
    [() => () => "x", "a function"],
    [() => withMessage({ reason: "disk" }), '{"reason":"disk"}'],
    [() => withMessage(7n), "7"],
    [() => withMessage(undefined), "Error"],
    [() => new TypeError(), "TypeError"],
    [() => throwing, "an object with no keys"],
    [revoked, "something that cannot be read"],
    [() => "", "no reason given"],
  ];
  it.each(thrown)("%#", (make, text) => {
    expect(describeError(make())).toBe(text);
  });

  it("and a message of megabytes is cut", () => {
    expect(describeError(new Error("x".repeat(2_000_000)))).toHaveLength(1_000);
  });

  it("for any value at all", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withSparseArray: true }), (value) => {
        const text = describeError(value);
        expect(text.length).toBeGreaterThan(0);
        expect(text).not.toMatch(/[\n\u0000-\u001f]/);
      }),
    );
  });
});
