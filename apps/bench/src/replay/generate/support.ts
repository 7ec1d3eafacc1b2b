// Invents customer service in short conversations whose records look nearly alike.
import type { ReplaySource } from "../script.ts";
import { createSessionBuilder, type SessionBuilder, type ToolUse } from "./build.ts";
import { type Chance, createChance } from "./chance.ts";

const FIRST = "Amara Bruno Chiara Dmitri Elif Farid Greta Hana Ivo Jelena".split(" ");
const LAST = "Okafor Lindqvist Moreau Petrov Yilmaz Haddad Novak Sato Costa Weber".split(" ");
const GOODS = "kettle backpack headphones lamp bicycle-pump desk jacket tripod".split(" ");
const RULES = [
  "Never refund more than 200 euros without a supervisor.",
  "Always confirm the delivery address before you change an order.",
  "Vouchers are valid for 90 days and cannot be paid out.",
];

interface Customer {
  id: string;
  name: string;
  orders: Order[];
}

interface Order {
  id: string;
  item: string;
  price: number;
  tracking: string;
}

/** Customers come back: what a later conversation needs was printed in an earlier one. */
export function generateSupport(name: string, seed: number, tokens: number): ReplaySource {
  const chance = createChance(seed);
  const session = createSessionBuilder(name);
  const known: Customer[] = [];
  const rules = [...RULES];
  while (session.tokens() < tokens) {
    const comesBack = known.length > 0 && chance.next() < 0.4;
    const customer = comesBack ? chance.pickRecent(known) : invent(chance);
    if (!comesBack) known.push(customer);
    talk(session, chance, customer, { rule: rules.shift(), comesBack });
  }
  return session.finish();
}

function invent(chance: Chance): Customer {
  const first = chance.pick(FIRST);
  const last = chance.pick(LAST);
  const number = () => 1000 + chance.below(9000);
  return {
    id: `${first}_${last}_${number()}`.toLowerCase(),
    name: `${first} ${last}`,
    orders: Array.from({ length: 2 + chance.below(3) }, () => ({
      id: `ORD-${number()}${number()}`,
      item: chance.pick(GOODS),
      price: 15 + chance.below(300),
      tracking: `TRK${chance.hex(9).toUpperCase()}`,
    })),
  };
}

function talk(
  session: SessionBuilder,
  chance: Chance,
  customer: Customer,
  { rule, comesBack }: { rule: string | undefined; comesBack: boolean },
): void {
  const order = chance.pick(customer.orders);
  const hello = comesBack
    ? `It is me again, ${customer.name}. What about the ${order.item} now?`
    : `Hello, this is ${customer.name}, customer ${customer.id}. My ${order.item} has not arrived.`;
  if (rule === undefined) session.user(hello);
  else session.userWithConstraint(`Note for you: ${rule}\n${hello}`, rule);
  if (!comesBack) session.calls("I look you up.", [lookUp(customer)]);
  session.calls("I check the order.", [orderDetails(customer, order)]);
  session.calls("And where it is.", [track(chance, order)]);
  if (chance.next() < 0.5) {
    session.reply(`Your ${order.item} is on its way. Shall I refund the shipping?`);
    session.user(chance.pick(["Yes, please.", "Yes, do that.", "That would be kind."]));
    session.calls("I refund it.", [refund(chance, customer, order)]);
  }
  session.reply(`All done for order ${order.id}. Is there anything else?`);
}

const lookUp = (customer: Customer): ToolUse => ({
  name: "get_customer",
  args: { customer_id: customer.id },
  output: JSON.stringify(
    {
      customer_id: customer.id,
      name: customer.name,
      status: "regular",
      orders: customer.orders.map(({ id }) => id),
    },
    null,
    1,
  ),
});

const orderDetails = (customer: Customer, { id, item, price, tracking }: Order): ToolUse => ({
  name: "get_order",
  args: { order_id: id },
  output: JSON.stringify(
    {
      order_id: id,
      customer_id: customer.id,
      items: [{ name: item, price, currency: "EUR", returnable: true }],
      shipment: { carrier: "parcel", tracking, status: "in transit" },
      history: ["created", "paid", "packed", "handed over"].map((state) => ({
        state,
        by: "system",
      })),
    },
    null,
    1,
  ),
});

const track = (chance: Chance, { tracking }: Order): ToolUse => ({
  name: "track_parcel",
  args: { tracking },
  output: JSON.stringify(
    Array.from({ length: 4 }, (_, at) => ({
      tracking,
      stop: at,
      hub: `HUB-${chance.below(90) + 10}`,
      status: "scanned",
    })),
    null,
    1,
  ),
});

const refund = (chance: Chance, customer: Customer, order: Order): ToolUse => ({
  name: "refund",
  args: { order_id: order.id, customer_id: customer.id, amount: 4.9 },
  output: `{"refund_id":"REF-${chance.below(900000) + 100000}","order_id":"${order.id}","amount":4.9}`,
});
