//! The texts of the tour, in English and Russian.

use super::Half;

/// All texts of the tour in one language.
pub(super) struct Texts {
    pub(super) thought: &'static str,
    pub(super) hello: &'static str,
    pub(super) plan: [&'static str; 4],
    pub(super) writing: &'static str,
    pub(super) reading: &'static str,
    pub(super) missing: &'static str,
    pub(super) handing_out: &'static str,
    pub(super) second_thought: &'static str,
    pub(super) before_approval: &'static str,
    pub(super) report_title: &'static str,
    pub(super) draft_mark: &'static str,
    pub(super) final_mark: &'static str,
    pub(super) reader_hello: &'static str,
    pub(super) reader_thought: &'static str,
    months: [&'static str; 12],
    halves: [&'static str; 2],
    task: &'static str,
    finding: &'static str,
    wettest: &'static str,
    answer_intro: &'static str,
    table_head: &'static str,
    answer_formula: &'static str,
    answer_code: &'static str,
    answer_final: &'static str,
    answer_draft: &'static str,
    answer_outro: &'static str,
}

impl Texts {
    /// Russian for a text with Cyrillic letters, otherwise English.
    pub(super) fn for_reader(text: &str) -> &'static Self {
        let is_cyrillic = |letter: char| ('\u{400}'..='\u{4ff}').contains(&letter);
        if text.chars().any(is_cyrillic) {
            &RUSSIAN
        } else {
            &ENGLISH
        }
    }

    /// The task of a sub-agent.
    pub(super) fn half_task(&self, half: Half, path: &str) -> String {
        format!("{}: {}\n{path}", self.task, self.half(half))
    }

    /// The half of the year in a sub-agent's task; `None` if it is not a sub-agent's task.
    pub(super) fn half_year_of(&self, task: &str) -> Option<Half> {
        let rest = task.strip_prefix(self.task)?;
        [Half::First, Half::Second]
            .into_iter()
            .find(|&half| rest.contains(self.half(half)))
    }

    fn half(&self, half: Half) -> &'static str {
        match half {
            Half::First => self.halves[0],
            Half::Second => self.halves[1],
        }
    }

    /// The report of a sub-agent.
    pub(super) fn reader_answer(
        &self,
        half: Half,
        total_mm: f64,
        wettest: Option<(&str, f64)>,
    ) -> String {
        let mut answer = format!(
            "**{} {}**: {total_mm:.1} mm.",
            self.finding,
            self.half(half)
        );
        if let Some((date, millimetres)) = wettest {
            answer.push_str(&format!(" {}: {date}, {millimetres:.1} mm.", self.wettest));
        }
        answer
    }

    /// Whether a tool result is a sub-agent's report.
    pub(super) fn is_finding(&self, result: &str) -> bool {
        result.contains(&format!("**{} ", self.finding))
    }

    /// The final text. `report_is_final`: whether the person allowed the edit.
    pub(super) fn answer(&self, months: &[(usize, f64)], report_is_final: bool) -> String {
        let total: f64 = months.iter().map(|month| month.1).sum();
        let rows: String = months
            .iter()
            .map(|&(month, millimetres)| {
                let name = self.months.get(month - 1).copied().unwrap_or_default();
                let share = 100.0 * millimetres / total.max(f64::MIN_POSITIVE);
                format!("| {name} | {millimetres:.1} | {share:.0} % |\n")
            })
            .collect();
        let state = if report_is_final {
            self.answer_final
        } else {
            self.answer_draft
        };
        format!(
            "{} **{total:.1} mm**.\n\n{}\n| :-- | --: | --: |\n{rows}\n{}\n\n{}\n\n{state}\n\n{}",
            self.answer_intro,
            self.table_head,
            self.answer_formula,
            self.answer_code,
            self.answer_outro
        )
    }
}

static ENGLISH: Texts = Texts {
    thought: "They want to see what a run looks like. I'll do a small but real job: write a rainfall table, read \
        it back, send out two readers in parallel, and write a report. First, a plan.",
    hello: "This is the **tour**. I'm a script, not a language model, but Glasshouse really carries out every \
        step you see. The task: how much did it rain in 2025, and when?",
    plan: [
        "Write the rainfall table",
        "Read it and check for gaps",
        "Add up each half of the year",
        "Write the report",
    ],
    writing: "First the data, one line per day.",
    reading: "I'll read the table back and look for last year's next to it.",
    missing: "There is no table for last year, so that call failed. I'll continue without it.",
    handing_out: "Two readers can work in parallel, each with its own context.",
    second_thought: "Both readers are done. I'll put their figures into the report, then ask for approval before \
        marking it final.",
    before_approval: "In the tour, changing a file needs your approval. Allow it, edit it or deny it: I'll continue \
        either way.",
    report_title: "Rain in 2025",
    draft_mark: "Status: draft",
    final_mark: "Status: final",
    reader_hello: "I'll look up the days in my half of the year.",
    reader_thought: "Now the days without rain, to make sure none is missing.",
    months: [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
    halves: ["January to June", "July to December"],
    task: "Rain reader",
    finding: "Rainfall,",
    wettest: "Wettest day",
    answer_intro: "In 2025 (the data is made up) it rained",
    table_head: "| Month | Rain (mm) | Share |",
    answer_formula: "The total is a plain sum: $\\sum_{d=1}^{365} r_d$, where $r_d$ is the rainfall on day $d$. In Python:",
    answer_code: "```python\nimport csv\n\nwith open(\"rain-2025.csv\") as table:\n    rows = csv.DictReader(table)\n    \
        print(sum(float(row[\"rain_mm\"]) for row in rows))\n```",
    answer_final: "The report is in `/report.md`, marked final with your approval.",
    answer_draft: "The report is in `/report.md`, still a draft, as you decided.",
    answer_outro: "Open the steps above to see every call, or the panel to see the files. To work with a real \
        model, connect one in Settings.",
};

static RUSSIAN: Texts = Texts {
    thought: "Человек хочет увидеть, как выглядит работа агента. Сделаю небольшое, но настоящее дело: запишу \
        таблицу осадков, прочитаю её, отправлю двух помощников одновременно и напишу отчёт. Сначала план.",
    hello: "Это **экскурсия**. Я сценарий, а не языковая модель, но каждый шаг Glasshouse выполняет на самом \
        деле. Задача: сколько осадков выпало в 2025 году и когда?",
    plan: [
        "Записать таблицу осадков",
        "Прочитать её и найти пробелы",
        "Подсчитать оба полугодия",
        "Написать отчёт",
    ],
    writing: "Сначала данные, по строке на день.",
    reading: "Читаю таблицу и ищу рядом прошлогоднюю.",
    missing: "Прошлогодней таблицы нет: этот вызов не удался, продолжаю без неё.",
    handing_out: "Два помощника могут работать одновременно, у каждого свой контекст.",
    second_thought: "Оба помощника ответили. Внесу их числа в отчёт, а перед тем как пометить его готовым, \
        спрошу разрешения.",
    before_approval: "На экскурсии изменение файла требует вашего согласия. Разрешите, исправьте или \
        откажите: я продолжу в любом случае.",
    report_title: "Осадки в 2025 году",
    draft_mark: "Статус: черновик",
    final_mark: "Статус: готово",
    reader_hello: "Ищу дни своего полугодия.",
    reader_thought: "Теперь дни без дождя, чтобы убедиться, что ни один не пропущен.",
    months: [
        "Январь",
        "Февраль",
        "Март",
        "Апрель",
        "Май",
        "Июнь",
        "Июль",
        "Август",
        "Сентябрь",
        "Октябрь",
        "Ноябрь",
        "Декабрь",
    ],
    halves: ["январь–июнь", "июль–декабрь"],
    task: "Подсчёт осадков",
    finding: "Осадки за",
    wettest: "Самый дождливый день",
    answer_intro: "В (вымышленном) 2025 году выпало",
    table_head: "| Месяц | Осадки, мм | Доля |",
    answer_formula: "Итог — простая сумма: $\\sum_{d=1}^{365} r_d$, где $r_d$ — осадки за день $d$. На Python:",
    answer_code: "```python\nimport csv\n\nwith open(\"rain-2025.csv\") as table:\n    rows = csv.DictReader(table)\n    \
        print(sum(float(row[\"rain_mm\"]) for row in rows))\n```",
    answer_final: "Отчёт — в `/report.md`, с вашего разрешения помечен готовым.",
    answer_draft: "Отчёт — в `/report.md`, остался черновиком, как вы решили.",
    answer_outro: "Откройте шаги выше, чтобы увидеть каждый вызов, или панель с файлами. Чтобы работать с \
        настоящей моделью, подключите её в настройках.",
};
