// Finds where code compares what is written for people.
import { isNode, type Language, lineAt, nodesOf, type SyntaxNode } from "./syntax.ts";

export interface Comparison {
  line: number;
  code: string;
}

/** Names under which sentences for people are kept. */
const SENTENCE = /^(?:message|reason|errorMessage|detail|notice|problem|stderr|warning)$/;
/** Names of what was caught, which turns into its message when it becomes text. */
const ERROR = /^(?:e|err|error|cause|caught|thrown|failure|exception|reason)$/i;
/** What leaves a text's words as they are, or takes some of them. */
const SHAPING =
  /^(?:to(?:Locale)?(?:Lower|Upper)Case|trim(?:Start|End)?|slice|substr(?:ing)?|replace(?:All)?|split|at|charAt|normalize|toString|concat)$/;
/** Methods of a text, a pattern or a collection that look at the text. */
const LOOKING =
  /^(?:startsWith|endsWith|includes|match(?:All)?|search|(?:lastI|i)ndexOf|localeCompare)$/;
const LOOKED_AT = /^(?:includes|(?:lastI|i)ndexOf|has|get|is|startsWith|endsWith|localeCompare)$/;

export function comparedText(code: string, language: Language = "ts"): Comparison[] {
  const found = [...nodesOf(code, language)].filter(({ node }) => compares(node));
  return (
    found
      // A comparison inside another one is the same one.
      .filter(({ above }) => !found.some((other) => above.includes(other.node)))
      .map(({ node: { start, end } }) => ({
        line: lineAt(code, start),
        code: code.slice(start, end).replace(/\s+/g, " "),
      }))
  );
}

function compares(node: SyntaxNode): boolean {
  switch (node.type) {
    case "BinaryExpression":
      return comparesSides(node);
    case "SwitchStatement":
      return isMessage(node.discriminant);
    case "SwitchCase":
      return isSentence(node.test);
    case "CallExpression":
      return looks(node);
    case "MemberExpression":
      return node.computed === true && isMessage(node.property);
    default:
      return false;
  }
}

function comparesSides({ operator, left, right }: SyntaxNode): boolean {
  if (operator === "in") return isMessage(left);
  if (!/^(?:[!=]==?|[<>]=?)$/.test(String(operator))) return false;
  const sides = [left, right];
  if (sides.some(isAbsent)) return false;
  if (sides.some(isSentence)) return true;
  if (sides.some(isConstant) && sides.some((side) => isVariable(side, SPOKEN))) return true;
  if (sides.some((side) => isConversation(side) || isAbortReason(side))) return false;
  return sides.some(isMessage);
}

function looks({ callee, arguments: given }: SyntaxNode): boolean {
  const method = bare(callee);
  if (method?.type !== "MemberExpression" || method.computed === true) return false;
  const name = nameOf(method.property);
  const args = given as SyntaxNode[];
  const [first] = args;
  // Whether it is several lines is no question of words.
  if (first?.type === "Literal" && first.value === "\n") return false;
  if (LOOKING.test(name) && (isMessage(method.object) || isVariable(method.object, SENTENCE)))
    return true;
  if (/^(?:test|exec)$/.test(name))
    return args.some((arg) => isMessage(arg) || isVariable(arg, SENTENCE));
  if (LOOKED_AT.test(name) && args.some(isMessage)) return true;
  return LOOKING.test(name) && isVariable(method.object, SPOKEN) && args.some(isSentence);
}

/** What is written for people, whole, in part or in another shape. */
function isMessage(value: unknown): boolean {
  const node = bare(value);
  switch (node?.type) {
    case "MemberExpression":
      if (node.computed === true) return isMessage(node.object);
      return SENTENCE.test(nameOf(node.property)) || (isLength(node) && isMessage(node.object));
    case "CallExpression":
      return isShaped(node);
    case "TemplateLiteral":
      return (node.expressions as unknown[]).some(
        (part) => isMessage(part) || isVariable(part, ERROR),
      );
    case "LogicalExpression":
      return isMessage(node.left) || isMessage(node.right);
    case "BinaryExpression":
      return node.operator === "+" && (isMessage(node.left) || isMessage(node.right));
    case "ConditionalExpression":
      return isMessage(node.consequent) || isMessage(node.alternate);
    default:
      return false;
  }
}

/** `String(error)`, `error.toString()`, `x.message.trim()`. */
function isShaped({ callee, arguments: given }: SyntaxNode): boolean {
  const called = bare(callee);
  if (called?.type === "Identifier")
    return (
      called.name === "String" &&
      (given as unknown[]).some((each) => isVariable(each, ERROR) || isMessage(each))
    );
  if (called?.type !== "MemberExpression" || called.computed === true) return false;
  const method = nameOf(called.property);
  if (method === "toString" && isVariable(called.object, ERROR)) return true;
  const isSpoken = isMessage(called.object) || isVariable(called.object, SENTENCE);
  return SHAPING.test(method) && isSpoken;
}

const WRAPPINGS =
  /^(?:ParenthesizedExpression|TS(?:As|NonNull|Satisfies)Expression|TSTypeAssertion|ChainExpression|AwaitExpression)$/;

/** Without parentheses, casts and the like. */
function bare(value: unknown): SyntaxNode | undefined {
  if (!isNode(value)) return undefined;
  const wraps = WRAPPINGS.test(value.type);
  return wraps ? bare(value.expression ?? value.argument) : value;
}

/** Variables that hold a message of a conversation, which may be the same object as another. */
const HOLDERS = /^(?:item|entry|event|call|shown|given|original)s?$/;

function isConversation(value: unknown): boolean {
  if (isVariable(value, /^message$/)) return true;
  const node = bare(value);
  if (node?.type !== "MemberExpression" || nameOf(node.property) !== "message") return false;
  const holder = bare(node.object);
  return isVariable(holder?.type === "MemberExpression" ? holder.object : holder, HOLDERS);
}

function isAbortReason(value: unknown): boolean {
  const node = bare(value);
  return (
    node?.type === "MemberExpression" &&
    nameOf(node.property) === "reason" &&
    isVariable(node.object, /signal$/i)
  );
}

const isLength = ({ property }: SyntaxNode) => nameOf(property) === "length";
const nameOf = (value: unknown): string => (isNode(value) ? String(value.name) : "");
const isVariable = (value: unknown, name: RegExp): boolean => {
  const node = bare(value);
  return node?.type === "Identifier" && name.test(String(node.name));
};
/** `undefined`, `null`, `""`, or the name of a type: whether there is any text, not which. */
function isAbsent(value: unknown): boolean {
  const node = bare(value);
  if (node?.type === "UnaryExpression") return node.operator === "typeof";
  if (node?.type === "Literal") return node.value === null || node.value === "";
  return isVariable(node, /^undefined$/);
}
/** Several words. */
function isSentence(value: unknown): boolean {
  const node = bare(value);
  if (node?.type === "TemplateLiteral")
    return (node.quasis as { value: { raw: string } }[]).some((part) => WORDS.test(part.value.raw));
  return node?.type === "Literal" && typeof node.value === "string" && WORDS.test(node.value);
}
const WORDS = /[A-Za-z]\S* \S*[A-Za-z]/;
const SPOKEN = new RegExp(`^text$|${SENTENCE.source}`);
function isConstant(value: unknown): boolean {
  return isVariable(value, /^[A-Z][A-Z_]+$/);
}
