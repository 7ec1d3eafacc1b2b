// The topics on which the search was tuned.
import type { TopicSet } from "./topics.ts";

export const TOPICS_ONE: TopicSet = {
  speakers: ["Mara", "Tobias", "Ines", "Callum", "Yuki", "Bashir", "Leonie", "Rafael"],
  relatives: [
    { rel: "sister", names: ["Nora", "Wilma", "Ayla"] },
    { rel: "neighbour", names: ["Gordon", "Priya", "Stellan"] },
    { rel: "cousin", names: ["Dario", "Kirsten", "Omar"] },
    { rel: "flatmate", names: ["Juno", "Pavel", "Tessa"] },
  ],
  introduce: [
    ["!S: My {rel} {N} is staying with me this week, so the place is loud."],
    ["O: Who was that on the phone?", "!S: That was {N}, my {rel}. Always calls at dinner time."],
    ["!S: I had lunch with {N} yesterday. You remember, my {rel}?", "O: Of course."],
  ],
  topics: [
    {
      tell: [
        ["!S: I finally signed up for {x} lessons, the first one is on Thursday evening."],
        [
          "O: So what are you doing with your evenings now?",
          "!S: {x}, believe it or not! I found a teacher around the corner.",
        ],
        [
          "O: Did you go through with the lessons?",
          "!S: I did. {x} it is, and my fingers hurt already.",
        ],
      ],
      ask: ["What did {S} start learning?", "What kind of lessons is {S} taking?"],
      when: ["When did {S} take up {x}?", "When did {S} sign up for {x} lessons?"],
      values: ["cello", "pottery", "Portuguese", "fencing", "tap dance", "calligraphy"],
      chaff: [
        "I keep telling myself to learn something new.",
        "Lessons are so expensive these days.",
        "My evenings are full as it is.",
      ],
    },
    {
      tell: [
        ["!S: We spent the long weekend in {x}. I never walked so much in my life."],
        ["O: How was the trip?", "!S: {x} was wonderful, apart from the rain and the blisters."],
        ["!S: Just back from {x}! I brought you some of that terrible liquorice."],
      ],
      ask: ["Where did {S} go for the long weekend?", "Which city did {S} visit?"],
      all: ["Which cities has {S} travelled to?", "What places has {S} been to on trips?"],
      inMonth: ["Where did {S} travel in {month}?"],
      values: ["Lisbon", "Ghent", "Trieste", "Bergen", "Kraków", "Valencia", "Tallinn", "Bologna"],
      chaff: [
        "I would love to travel more this year.",
        "Trips are nice, but so is my own bed.",
        "The weekend was far too short again.",
      ],
    },
    {
      tell: [
        ["!S: Guess who has a pet now. A {x}, and the sofa is gone already."],
        [
          "O: What is that noise in the background?",
          "!S: That is the {x}. We got it from the shelter.",
        ],
      ],
      ask: ["What animal did {S} adopt?", "What pet does {S} have?"],
      when: ["When did {S} get the {x}?"],
      values: ["greyhound", "tortoise", "parrot", "ferret", "three-legged cat"],
      chaff: ["Pets are a lot of work, everybody says so.", "The shelter was on the news again."],
    },
    {
      tell: [
        ["!S: I bought a {x} at the flea market, and I have no idea where to put it."],
        [
          "O: Did you find anything at the market?",
          "!S: A {x}, for next to nothing. It still needs a good clean.",
        ],
        ["!S: The {x} that I ordered came today, two weeks late."],
      ],
      ask: ["What did {S} buy at the flea market?", "What did {S} purchase?"],
      all: ["What things has {S} bought?", "Which purchases has {S} made?"],
      inMonth: ["What did {S} buy in {month}?"],
      values: [
        "typewriter",
        "copper kettle",
        "record player",
        "canoe",
        "sewing machine",
        "telescope",
        "rocking chair",
      ],
      chaff: [
        "The market was packed, I turned around at once.",
        "I should stop buying things.",
        "Ordering online always takes two weeks here.",
      ],
    },
    {
      tell: [
        ["!S: The results are in. It is a {x}, so no running for six weeks."],
        ["O: What did the doctor say?", "!S: A {x}. Nothing dramatic, but I have to rest."],
      ],
      ask: ["What was {S}'s diagnosis?", "What did the doctor find with {S}?"],
      when: ["When did {S} hear about the {x}?"],
      values: ["torn ligament", "stress fracture", "slipped disc", "frozen shoulder"],
      chaff: [
        "The doctor kept me waiting for an hour.",
        "Running is the only thing that clears my head.",
      ],
    },
    {
      tell: [
        ["!S: They offered me the {x} job, and I said yes on the spot."],
        ["O: Any news from the interview?", "!S: I start as a {x} in two weeks!"],
      ],
      ask: ["What is {S}'s new job?", "What position did {S} accept?"],
      when: ["When did {S} get the {x} job?"],
      values: ["lighthouse guide", "set designer", "soil analyst", "night editor", "ferry pilot"],
      chaff: [
        "Interviews make me so nervous.",
        "My boss said nothing about it.",
        "Work was the same as ever.",
      ],
    },
    {
      tell: [
        ["!S: I tried making {x} from scratch. The kitchen looks like a battlefield."],
        ["O: What smells so good?", "!S: {x}! My first attempt, and half of it is edible."],
      ],
      ask: ["What dish did {S} cook?", "What did {S} try to make in the kitchen?"],
      all: ["Which dishes has {S} cooked?", "What has {S} made in the kitchen so far?"],
      inMonth: ["What did {S} cook in {month}?"],
      values: ["pierogi", "injera", "bouillabaisse", "mole", "kimchi", "baklava"],
      chaff: [
        "I had toast for dinner again.",
        "Cooking for one is no fun.",
        "The kitchen tap still drips.",
      ],
    },
    {
      tell: [
        ["!S: I am reading {x} at the moment, and I cannot put it down."],
        ["O: Which book was it this month?", "!S: {x}. I cried on the bus, which was awkward."],
      ],
      ask: ["What book was {S} reading?", "Which novel made an impression on {S}?"],
      all: ["Which books has {S} read?"],
      values: [
        "The Salt Road",
        "Winter Garden",
        "A Quiet Engine",
        "The Ninth Harbour",
        "Glass Orchard",
      ],
      chaff: [
        "I never find the time to read.",
        "Books pile up beside my bed.",
        "The bus was late again.",
      ],
    },
  ],
  bridges: [
    {
      tell: [
        ["!S: {N} just started at the {x}, and comes home exhausted."],
        ["O: How is {N}?", "!S: Busy. The {x} keeps everybody on their feet all day."],
      ],
      ask: ["Where does {S}'s {rel} work?", "Who employs {S}'s {rel}?"],
      values: ["aquarium", "tax office", "opera house", "sawmill", "airport bakery"],
    },
    {
      tell: [
        ["!S: {N} is mad about {x} these days, there is gear all over the hall."],
        ["O: And what is {N} up to?", "!S: {x}, every single weekend."],
      ],
      ask: ["What hobby does {S}'s {rel} have?", "What does {S}'s {rel} do on weekends?"],
      values: ["beekeeping", "kite surfing", "model railways", "mushroom hunting", "archery"],
    },
    {
      tell: [
        ["!S: {N} is moving to {x} in the summer, the flat is signed."],
        ["O: Is {N} still around?", "!S: Not for long, it is going to be {x}."],
      ],
      ask: ["Where is {S}'s {rel} moving to?", "Which town will {S}'s {rel} live in?"],
      values: ["Aarhus", "Salzburg", "Galway", "Porto", "Ostend"],
    },
  ],
  open: [
    {
      tell: [["!S: I start crying at every wedding, even on television."]],
      ask: ["Would {S} be moved by a romantic film?"],
    },
    {
      tell: [["!S: Heights make my knees go soft. I did not even go up the church tower."]],
      ask: ["Would {S} enjoy climbing a tower?"],
    },
    {
      tell: [["O: Coffee?", "!S: No, I gave it up for good. Tea, please."]],
      ask: ["What should one offer {S} to drink?"],
    },
    {
      tell: [["!S: I have not eaten meat since I was twelve."]],
      ask: ["Would a steak house be a good place for dinner with {S}?"],
    },
    {
      tell: [["!S: I am useless before ten in the morning, do not even try."]],
      ask: ["Is an early morning meeting a good idea for {S}?"],
    },
  ],
  smallTalk: [
    "How are you holding up?",
    "It rained all day here.",
    "I know what you mean.",
    "Ha, that is so like you!",
    "Let me think about it and tell you tomorrow.",
    "The train was packed this morning.",
    "Did you sleep well?",
    "I can hardly keep my eyes open.",
    "That reminds me of last year.",
    "Tell me more.",
    "I was at home all day and got nothing done.",
    "Same here, to be honest.",
    "We should meet soon.",
    "Thursday does not work for me, maybe next week?",
    "My phone is almost dead.",
    "I have been thinking about what you said.",
    "You always say that.",
    "The heating is broken again.",
    "Good night, talk soon.",
    "I saw the new cafe on the corner, it looks nice.",
    "Sorry, I was in the shower.",
    "No way!",
    "It could be worse.",
    "Give my love to everybody.",
  ],
};
