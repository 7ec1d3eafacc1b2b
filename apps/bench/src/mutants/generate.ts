// Lists the mutants of a source file in a form that survives moves.
import { createInstrumenter, type InstrumenterContext } from "@stryker-mutator/instrumenter";
import { createInjector, type Injector } from "typed-inject";

/** One small fault planted in one place of one source file. */
export interface Mutant {
  /** Path in the repository; the file may move, then the base name finds it again. */
  file: string;
  mutator: string;
  /** The code that is replaced and what replaces it. */
  original: string;
  replacement: string;
  /** The code just before and after it, white space removed: finds the place after a move. */
  around: string;
}

/** A mutant with its place: offsets in UTF-16 units of the file as it is now. */
export interface PlacedMutant extends Mutant {
  start: number;
  end: number;
}

/** All mutants of the files; texts only are replaced in strings and patterns if `texts` is set. */
export async function mutantsOf(
  files: readonly { path: string; text: string }[],
): Promise<PlacedMutant[]> {
  const instrumenter = silentInjector().injectFunction(createInstrumenter);
  const { mutants } = await instrumenter.instrument(
    files.map(({ path, text }) => ({ name: path, content: text, mutate: true })),
    { ignorers: [], excludedMutations: EXCLUDED, plugins: null },
  );
  const textOf = new Map(files.map(({ path, text }) => [path, text]));
  return mutants.flatMap(({ fileName, mutatorName, replacement, location, status }) => {
    const text = textOf.get(fileName);
    if (text === undefined || status === "Ignored") return [];
    const start = offsetOf(text, location.start);
    const end = offsetOf(text, location.end);
    const original = text.slice(start, end);
    const around = `${before(text, start)} ${after(text, end)}`;
    return [{ file: fileName, mutator: mutatorName, original, replacement, around, start, end }];
  });
}

/** Changed wording of messages is not a fault of the core; everything else is. */
const EXCLUDED = ["StringLiteral", "Regex"];

/** A key that is the same in two versions of a file when the code around the mutant is. */
export const keyOf = ({ mutator, original, replacement, around }: Mutant) =>
  [mutator, packed(original), packed(replacement), around].join("\u0000");

/** Formatters add and remove white space, trailing commas and brackets of single arguments. */
const packed = (code: string) => code.replace(/\s+/g, "").replace(/,(?=[)\]}])/g, "");

function offsetOf(text: string, { line, column }: { line: number; column: number }): number {
  let at = 0;
  for (let passed = 0; passed < line; passed++) at = text.indexOf("\n", at) + 1;
  return at + column;
}

/** Enough to tell most places of a file apart, little enough to outlive an edit nearby. */
const NEIGHBOURHOOD = 40;

const before = (text: string, at: number) =>
  packed(text.slice(Math.max(0, at - 8 * NEIGHBOURHOOD), at)).slice(-NEIGHBOURHOOD);

const after = (text: string, at: number) =>
  packed(text.slice(at, at + 8 * NEIGHBOURHOOD)).slice(0, NEIGHBOURHOOD);

function silentInjector(): Injector<InstrumenterContext> {
  const quiet = () => {};
  const logger = {
    isTraceEnabled: () => false,
    isDebugEnabled: () => false,
    isInfoEnabled: () => false,
    isWarnEnabled: () => false,
    isErrorEnabled: () => false,
    isFatalEnabled: () => false,
    trace: quiet,
    debug: quiet,
    info: quiet,
    warn: quiet,
    error: quiet,
    fatal: quiet,
  };
  return createInjector()
    .provideValue("getLogger", () => logger)
    .provideValue("logger", logger) as unknown as Injector<InstrumenterContext>;
}
