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
            "**{}** {}: {total_mm:.1} mm.",
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
        result.contains(self.finding)
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
    thought: "The person wants to see how a run looks. I will do a small but real piece of work: write a \
        table of rain, read it back, send two readers out at the same time, and report. A plan first.",
    hello: "This is the **tour**. I am a script, not a language model, but each step you see is really done \
        by Glasshouse. The task: how much did it rain in 2025, and when?",
    plan: [
        "Write the table of rain",
        "Read it and look for gaps",
        "Sum up both half years",
        "Write the report",
    ],
    writing: "First the data, one line a day.",
    reading: "I read the table back, and look for last year's beside it.",
    missing: "Last year's table does not exist: that call failed, and I go on without it.",
    handing_out: "Two readers can work at the same time, each with a context of its own.",
    second_thought: "Both readers have answered. Their figures go into the report, then I ask for consent \
        before I mark it as final.",
    before_approval: "In the tour, changing a file needs your consent. Allow it, change it or deny it: I go \
        on either way.",
    report_title: "Rain in 2025",
    draft_mark: "State: draft",
    final_mark: "State: final",
    reader_hello: "I look up the days of my half year.",
    reader_thought: "Now the days without rain, to be sure that none is missing.",
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
    finding: "Found for",
    wettest: "The wettest day",
    answer_intro: "In the (made-up) year 2025 it rained",
    table_head: "| Month | Rain, mm | Share |",
    answer_formula: "The sum is plain: $\\sum_{d=1}^{365} r_d$, where $r_d$ is the rain of day $d$. In Python:",
    answer_code: "```python\nimport csv\n\nwith open(\"rain-2025.csv\") as table:\n    rows = csv.DictReader(table)\n    \
        print(sum(float(row[\"rain_mm\"]) for row in rows))\n```",
    answer_final: "The report stands in `/report.md`, marked as final with your consent.",
    answer_draft: "The report stands in `/report.md`, still a draft, as you decided.",
    answer_outro: "Open the steps above to see every call, or the files at the side. To work with a real \
        model, connect one in the settings.",
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
    draft_mark: "Состояние: черновик",
    final_mark: "Состояние: готово",
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
    task: "Читатель осадков",
    finding: "Найдено за",
    wettest: "Самый дождливый день",
    answer_intro: "В (вымышленном) 2025 году выпало",
    table_head: "| Месяц | Осадки, мм | Доля |",
    answer_formula: "Сумма простая: $\\sum_{d=1}^{365} r_d$, где $r_d$ — осадки за день $d$. На Python:",
    answer_code: "```python\nimport csv\n\nwith open(\"rain-2025.csv\") as table:\n    rows = csv.DictReader(table)\n    \
        print(sum(float(row[\"rain_mm\"]) for row in rows))\n```",
    answer_final: "Отчёт лежит в `/report.md` и с вашего согласия помечен готовым.",
    answer_draft: "Отчёт лежит в `/report.md` и остался черновиком, как вы решили.",
    answer_outro: "Откройте шаги выше, чтобы увидеть каждый вызов, или файлы сбоку. Чтобы работать с \
        настоящей моделью, подключите её в настройках.",
};
