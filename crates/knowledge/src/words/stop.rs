//! Stop words: words that occur in almost every text of a language and say nothing about its topic. By them the language
//! of a text is recognized.

use std::{collections::HashMap, sync::LazyLock};

use super::language::{Language, Languages};

/// The languages in which a word is a stop word. The word is normalized, with or without accents.
#[must_use]
pub(super) fn common_in(word: &str) -> Languages {
    static MAP: LazyLock<HashMap<Box<str>, Languages>> = LazyLock::new(|| {
        let mut map: HashMap<Box<str>, Languages> = HashMap::new();
        for (language, words) in WORDS {
            for word in words.split_whitespace() {
                let normalized = folding::normalize(word);
                for form in [folding::fold(word), normalized] {
                    map.entry(form.into())
                        .or_insert_with(Languages::none)
                        .insert(*language);
                }
            }
        }
        map
    });
    MAP.get(word).copied().unwrap_or_else(Languages::none)
}

/// Function words and question words. Those for Russian include Ukrainian ones, those for Persian Urdu ones.
const WORDS: &[(Language, &str)] = &[
    (
        Language::English,
        "a about after again all also am an and any are as at be because been before being between both but by \
         can cannot could did do does doing done dont during each else etc ever every for from further get give \
         given go had has have having he her here hers him his how however i id if ill im in into is isnt it its \
         ive just let lets like may me might more most much must my no nor not now of off on once one only or \
         other our ours out over own please same shall she should since so some such than that thats the their \
         theirs them then there these they this those through to too under until up upon us very via was we were \
         what when where whether which while who whom whose why will with within without would yes yet you your \
         yours above according across almost alone along already although always among another around away became \
         become becomes below besides beyond came certain come concerning considered corresponding either enough \
         especially example except far few following found hence herself himself indeed instead itself last \
         latter least less little made mainly make makes many mostly near nearly neither never next none nothing \
         often others otherwise per perhaps possible probably quite rather really regarding related respectively \
         said say several show shown something sometimes still taken tell themselves therefore thus together \
         toward towards unless usually various want well whatever whenever whoever yourself",
    ),
    (
        Language::Danish,
        "ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din disse dog du \
         efter eller en end er et for fordi fra ham han hans har havde have hende hendes her hos hun hvad hvem \
         hver hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornår i ikke ind jeg jer kan kunne man mange med \
         meget mellem men mig min mod må ned noget nogle nogen nu når og også om op os over på sig sin skal \
         skulle som sådan til ud under var ved vi vil ville være været",
    ),
    (
        Language::Dutch,
        "aan af al alle als altijd andere ben bij daar dan dat de deze die dit doch doen door dus een eens en er \
         ge geen had haar heb hebben heeft hem het hier hij hoe hun ik in is ja je kan kon kunnen maar me meer \
         men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch \
         toen tot u uit uw van veel voor waarom waar want waren was wat welke werd wezen wie wij wil worden wordt \
         zal ze zelf zich zij zijn zo zonder zou wanneer hoeveel welk",
    ),
    (
        Language::Finnish,
        "ei eivät eli emme en enemmän ennen entä eräs että he hän hänen ja jo joita joka jolla jonka jos joskus \
         jossa jota jotka kanssa kautta keitä ketkä koko koska kuin kuinka kuka kuten kun lisäksi me mikä miksi \
         mikäli mitkä millä milloin minkä minä missä mistä mitä muiden mukaan mutta muun myös myöskin ne niiden \
         niin nyt näiden nämä oli olivat olla olleet ollut olisi on onko ovat paitsi sekä se sen sillä sinä siinä \
         sitä suuri tai tämä tämän tässä tätä te tuo vaan vai vaikka vain voi vuoden yksi yli montako",
    ),
    (
        Language::French,
        "à ai alors as au aucun aussi autre aux avait avant avec avoir ce cela celle celui ces cet cette ceux \
         chaque ci comme comment dans de depuis des dès dont du elle elles en encore entre es est et étaient \
         était été être eu fait faut font ici il ils je jusque la là laquelle le lequel les leur leurs lors \
         lorsque lui ma mais me même mes moi moins mon ne ni nos notre nous on ont ou où par parce pas pendant \
         peu peut plus pour pourquoi qu quand que quel quelle quelles quels qui sa sans sera ses si soit son sont \
         sous sur ta tandis te tes toi ton tous tout toute toutes très tu un une vers voici vos votre vous y \
         combien quoi",
    ),
    (
        Language::German,
        "aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da \
         damit dann das dass dein dem den denn der des dessen dich die dies diese diesem diesen dieser dieses dir \
         doch dort du durch ein eine einem einen einer eines einige er es etwas für gegen gibt habe haben hat \
         hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jeder \
         jedes kann kein keine können könnte machen man manche mehr mein mich mir mit nach nicht nichts noch nun \
         nur ob oder ohne sehr sein seine seinem seinen seiner seit selbst sich sie sind so soll sollte sondern \
         sonst über um und uns unser unter viel vom von vor war waren warum was weil welche welchem welchen \
         welcher welches wenn wer werden wie wieder wieviel will wir wird wirst wo wurde wurden würde zu zum zur \
         zwar zwischen wann woher wohin wozu weshalb wieso wen wem wessen etwa bereits jedoch",
    ),
    (
        Language::Hungarian,
        "a abban ahhoz akár aki akik alatt ami amely amelyek amelyet amikor amit arra az azok azon azt azért be \
         bár ben csak de e egy egyik el ellen elő előtt én és ez ezek ezen ezt fel ha hanem hogy hogyan honnan \
         hol így illetve is ki kell kellett között le legyen lehet lesz lett majd már más meg mely melyek melyik \
         mert mi mikor milyen minden mint mit miért mivel most nagyon ne nem nincs ő ők olyan össze pedig s sem \
         számára szerint tehát után újra utána vagy van vannak volt voltak volna hány mennyi kinek",
    ),
    (
        Language::Italian,
        "a ad agli ai al alla alle allo anche ancora avere aveva c che chi ci cioè come con contro cosa così cui \
         da dagli dai dal dalla dalle degli dei del della delle dello dentro di dopo dove due e è ed era erano \
         essere fa fino fra gli ha hai hanno ho i il in io la le lei li lo loro lui ma mi mio nè né negli nei nel \
         nella nelle nello noi non nostro o ogni per perché però più poi prima quale quali quando quanto quanti \
         quella quelle quello questa queste questi questo qui se sei senza si sia sono sopra stata stato sta su \
         sua sue sugli sui sul sulla sulle suo suoi tra tu tutti tutto un una uno vi voi",
    ),
    (
        Language::Norwegian,
        "alle alt andre at av bare ble bli blir blitt både da de deg dem den denne der deres det dette di din \
         disse du eller en enn er et etter for fordi fra få før ha hadde han hans har hennes her hos hun hva hvem \
         hver hvilke hvilken hvilket hvis hvor hvordan hvorfor i ikke inn ja jeg kan kunne man mange med meg \
         mellom men mer mot mye må ned ni noe noen nå når og også om opp oss over på samme seg selv sin sitt skal \
         skulle slik som så til ut under var ved vi vil ville vært være",
    ),
    (
        Language::Portuguese,
        "a à ao aos aquela aquele as às até cada com como da das de dela dele deles depois do dos e é ela elas \
         ele eles em entre era eram essa esse esta está estão estas este estes eu foi foram há isso isto já lhe \
         mais mas me mesmo meu minha muito na não nas nem no nos nós num numa o onde os ou para pela pelas pelo \
         pelos por porque qual quais quando quanto que quê quem se seja sem ser seu seus sido só sob sobre sua \
         suas também te tem têm teve tinha todo todos um uma você quantos quantas",
    ),
    (
        Language::Romanian,
        "a acea aceasta această acest acesta aceste acestei acestui aceștia acolo ai aia al ale am ar are aș așa \
         asta ati au avea avut că când care cărei căror cărui cât câte câți ce cea cei cel cele celor chiar cine \
         cu cum da dacă dar de decât deci din dintre după e ea ei el ele era erau este eu fără fi fie fiind \
         foarte fost iar îi îl îmi în înainte încă între la le lor lui mai mult ne nici nu o or ori pe pentru \
         peste poate prin s sa să sale sau se și sine spre sub sunt toate tot tu un una unde unei unele unii unor \
         unui va vor voi vă câtă",
    ),
    (
        Language::Spanish,
        "a al algo algún alguna ante antes aquel así aún aunque cada como cómo con cual cuál cuáles cuando cuándo \
         cuánto de del desde donde dónde dos durante e el él ella ellas ellos en entre era eran es esa ese eso \
         esta está están estas este esto estos fue fueron ha había han hasta hay la las le les lo los más me mi \
         mientras muy nada ni no nos nosotros o otra otro otros para pero poco por porque qué que quien quién \
         quiénes se sea según ser si sí sido sin sobre son su sus también tan tanto te tenía tiene tienen todo \
         todos tu un una unas uno unos y ya yo cuántos cuántas cuánta",
    ),
    (
        Language::Swedish,
        "alla allt andra att av blev bli blir både då de dem den denna deras dess dessa det detta dig din du där \
         efter ej eller en er ett finns från för före genom ha hade han hans har henne hennes hon honom hur här i \
         icke ingen inom inte jag kan kunde man med mellan men mer mig min mot mycket många måste ned ni nu när \
         någon något några och också om oss på samma sedan sig sin sitt ska skall skulle som så till under upp ut \
         utan vad var varför varje vem vi vid vilka vilken vilket vill än är även åt över",
    ),
    (
        Language::Turkish,
        "acaba ama ancak arada aslında ayrıca bana bazı belki ben beri bile bir biri birkaç birçok biz bu buna \
         bunda bundan bunlar bunu bunun burada böyle çok çünkü da daha dan de defa değil den diğer diye dolayı en \
         fakat gibi göre hangi hani hatta hem henüz hep her hiç için ile ilgili ise işte kadar karşı kendi kez ki \
         kim kimse mı mi mu mü nasıl ne neden nedir nerede nereye niçin niye o olan olarak oldu olduğu olması \
         olup olur on ona ondan onlar onu onun oysa pek rağmen sadece sanki sen siz sonra şey şu tarafından tüm \
         var ve veya ya yani yapılan yine yok zaten zira kaç kaçıncı kimdir nelerdir",
    ),
    (
        Language::Czech,
        "a aby aj ale ani ano asi až bez bude budou by byl byla byli bylo být co což či další dnes do ho i jak \
         jaké jaký jako je jeho jej její jejich jen ještě již jsem jsme jsou jste k kam každý kde kdo kdy když ke \
         která které kterou který kteří ma má mají mezi mi mít mu může my na nad nám nebo není než nic o od on \
         ona oni ono pak po pod podle pokud pouze právě pro proč proto protože před při s se si sice své svůj ta \
         tak také takže tam tato té tedy ten tento této tím to tohoto tom tomto toto tu ty u už v ve však vy z za \
         ze že kolik",
    ),
    (
        Language::Indonesian,
        "ada adalah agar akan aku anda antara apa apakah atas atau bagaimana bagi bahwa banyak beberapa belum \
         bisa bukan dalam dan dapat dari dengan di dia hanya harus hingga ia ini itu jika juga kami kamu karena \
         ke kepada kita lagi lain lebih maka masih mana mengapa mereka namun oleh pada para saat saja sangat saya \
         sebagai sebuah sebelum secara sedang sejak seorang seperti serta setelah siapa sudah tahun telah tentang \
         terhadap tersebut tetapi tidak untuk yaitu yang",
    ),
    (
        Language::Polish,
        "a aby ale bardzo bez bo by był była było były być chociaż ci co czy czym dla dlaczego do gdy gdyby gdzie \
         go i ich ile im inne innych ja jak jaka jakie jaki jako je jednak jego jej jest jestem jeszcze jeśli \
         jeżeli już każdy kiedy kto która które którego której który których którzy lub ma mają mi mnie może \
         można na nad nam nas nawet nie niej nich nim niż o od on ona one oni oraz po pod ponieważ poza przed \
         przez przy są się sobie swoje ta tak także tam te tego tej ten też to tu tych tylko tym w we wie więc \
         wszystkie wszystko z za ze że żeby ilu",
    ),
    (
        Language::Vietnamese,
        "là và của có cho các những được không này đó khi với trong đã sẽ thì mà bị bởi cũng như nhưng vì nào gì \
         ai hay hoặc để từ ra ở theo đến về nên vẫn rất đều một",
    ),
    (
        Language::Russian,
        "а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее \
         ей ему если есть еще же за здесь и из или им их к как какая какие какой ко когда которая которые который \
         кто ли либо мне может мы на над надо наш не него нее нет ни них но ну о об однако он она они оно от \
         очень по под после потому при про с сам свое свои свой себя со так также такая такие такой там те тем то \
         того тоже той только том тот ту ты у уже хотя чего чей чем что чтобы эта эти это этого этой этом этот я \
         і й та що це як від але чи його її їх вони ми ви бо ще був була було були є цей ця який яка які сколько \
         почему зачем какого какое каком какую какими кого чьи",
    ),
    (
        Language::Greek,
        "αλλά αν ανά αντί από απ αυτά αυτές αυτή αυτό αυτοί αυτός αυτού αυτών για γιατί δε δεν δηλαδή εάν εγώ εδώ \
         εκεί είμαι είναι είχαν είχε ένα ένας ενός εμείς επί επίσης ή η ήταν θα ι ίσως κ και κάθε κάτι κατά κι μα \
         με μέσα μετά μη μην μία μια μου μπορεί να ο οι όμως όπως όπου ότι όταν όσο ούτε πια πιο ποια ποιά ποιες \
         ποιο ποιοι ποιος πολύ πόσο πόσα πόσοι ποτέ πότε που πού πριν προς πρέπει πως πώς σαν σας σε στα στη στην \
         στης στις στο στον στου στους στων συ τα τη την της τι τις το τον τότε του τους των ως",
    ),
    (
        Language::Arabic,
        "أم أن إن أنا أنت أنه إلى أو أي أين أيضا إذا إلا أما بعد بعض بل بها به بين تحت تكون تم ثم حتى حول حيث حين \
         خلال دون ذات ذلك عام على عليه عليها عن عند عندما غير فإن في فيه فيها قبل قد كان كانت كل كم كما كيف كيفية \
         لا لأن لقد لكن لم لماذا لن له لها ليس ما ماذا متى مثل مع من منذ منها منه هذا هذه هل هم هناك هو هي هيا و \
         وأن وقد وكان وفي ولا ولم وهو وهي ومن يكون يمكن التي الذي الذين اللتي والتي والذي وعلى وإلى ولكن وما \
         وكانت تلك هؤلاء أحد إحدى أيضاً نحو ضد لدى سوف فقد يتم كون لكي أية بأن بأنه لأنه وأنه منهم لهم عنها عنه \
         إليه إليها فيما مما عما بينما كلما ومع وهذا وهذه وكل وعن وبعد ثلاث فإنه إنه إنها أنها بذلك لذلك كذلك \
         هنالك أمام عبر فوق سواء حسب وفقا أول إما مرة بسبب بشكل اسم يوجد توجد",
    ),
    (
        Language::Persian,
        "و در به از که این را با است برای آن یک خود تا بر بود شد شده هم نیز می ها های کرد اما یا باید دارد هر اگر \
         او ما چه چرا کجا کی چگونه آیا بین پس روی توسط همه بیش دیگر کرده هستند بودند اور کے کا ہے میں سے کو نے پر \
         ہیں یہ وہ تھا",
    ),
    (
        Language::Hebrew,
        "אבל או אז אחרי אחת אי איזה איזו אילו אין איך אם אנחנו אני אף את אתה באשר בו בין בכל בעת גם האם הוא היא \
         הייתה היה היו הם הן הנה הרי זאת זה זו יש כאשר כדי כי כך כל כלל כמה כמו כן לא לאחר להיות לו לי לכן לפי \
         מאוד מאז מה מהו מהי מי מן מתי עד עוד על עם עבור פי רק של שהוא שבו שלה שלו שלהם שם תוך תחת",
    ),
    (
        Language::Hindi,
        "अपना अपनी अपने अब आदि आप इन इस इसका इसके इसकी इसमें उन उनका उनके उनकी उस उसका उसके उसकी एक एवं ऐसे और कई \
         कब कर करता करते करना करने कहा कहाँ का काफी कि कितना कितने किया किस किसने किसी की कुछ के को कोई कौन कौनसा \
         क्या क्यों गई गए गया जब जहाँ जा जाता जाती जाते जाना जैसे जो तक तथा तब तो था थी थे दिया दो द्वारा न नहीं \
         ने पर फिर बहुत बाद भी में मैं यदि यह यहाँ या ये रहा रही रहे लिए वह वहाँ वाला वाली वाले वे सभी साथ से हम \
         ही हुआ हुई हुए है हैं हो होता होती होते होना",
    ),
    (
        Language::Tamil,
        "அது அதன் அந்த அல்லது அவர் அவர்கள் அவள் அவன் ஆகும் ஆனால் இது இதன் இந்த இருந்து இல்லை உள்ள உள்ளது எந்த \
         எப்படி எப்போது எங்கே என் என்ன என்று என்ற எல்லாம் ஏன் ஒரு ஓர் கொண்டு தான் நான் நாம் பல பற்றி பின்னர் \
         மற்றும் மிக மீது முன் மூலம் யார் வரை வேண்டும்",
    ),
];
