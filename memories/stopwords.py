"""Words that say little about what a text is about, by language: articles, pronouns, auxiliaries and question words.

They are written the way the analyser leaves them (lower case, accents folded). They are indexed like every word; a query
leaves them out as long as it has another word. They also tell the Latin-script languages apart.
"""

from __future__ import annotations

from collections.abc import Iterable

_LISTS = {
    "english": """
        a about above after again against all also am an and any are aren as at be because been before being below
        between both but by can cannot could couldn d did didn do does doesn doing don down during each ever few for from
        further get got had hadn has hasn have haven having he her here hers herself him himself his how i if in into is
        isn it its itself just ll m me mightn more most much mustn my myself no nor not now o of off on once only or other
        our ours ourselves out over own re s same shan she should shouldn so some such t than that the their theirs them
        themselves then there these they this those through to too under until up upon us ve very was wasn we were weren
        what when where which while who whom whose why will with won would wouldn you your yours yourself yourselves
    """,
    "german": """
        aber alle allem allen aller alles als also am an andere anderen anderer auch auf aus bei beim bin bis bist da
        dabei damit dann das dass dein deine deinem deinen deiner dem den denen denn der deren des dessen dich die dies
        diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer
        eure fur gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren
        ihrer im in indem ins ist jede jedem jeden jeder jedes jene jetzt kann kein keine keinem keinen keiner konnen
        konnte konnten machen man manche mein meine meinem meinen meiner mich mir mit muss musste nach nicht nichts noch
        nun nur ob oder ohne sehr sein seine seinem seinen seiner seit selbst sich sie sind so solche soll sollte sondern
        sonst uber um und uns unser unsere unter viel viele vom von vor wahrend wann war waren warum was weg weil weiter
        welche welchem welchen welcher welches wem wen wenn wer werde werden wessen wie wieder wieviel will wir wird wirst
        wo wofur woher wohin wollen wollte womit worden wurde wurden zu zum zur zwischen
    """,
    "spanish": """
        a al algo algunas algunos ante antes aquel aquella como con contra cual cuales cuando cuanta cuantas cuanto
        cuantos de del desde donde durante e el ella ellas ellos en entre era eran eres es esa esas ese eso esos esta
        estaba estaban estado estamos estan estar estas este esto estos estoy fue fueron ha habia habian han hasta hay he
        la las le les lo los mas me mi mis mucho muchos muy nada ni no nos nosotros nuestra nuestro o os otra otras otro
        otros para pero poco por porque que quien quienes se sea ser si sido sin sobre son soy su sus suya suyo tambien
        tanto te tenia tiene tienen todo todos tu tus un una unas uno unos vosotros y ya yo
    """,
    "french": """
        a ai aient ainsi alors apres as au aucun aura aussi autre autres aux avait avant avec avez avoir avons c car ce
        cela celle celles celui ces cet cette ceux chaque chez ci combien comme comment d dans de depuis des donc dont du
        elle elles en encore entre es est et etaient etait etant ete etes etre eu eux fait furent fut ici il ils j je l la
        laquelle le lequel les lesquels leur leurs lors lui m ma mais me meme memes mes moi mon n ne ni nos notre nous on
        ont ou par parce pas pendant peu peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans
        se sera ses si son sont sous soit sur t ta te tes toi ton tous tout toute toutes tres tu un une vers vos votre
        vous y
    """,
    "italian": """
        a abbia abbiamo ad agli ai al alla alle allo anche avere aveva avevano c che chi ci come con cosa cui d da dagli
        dai dal dalla dalle de degli dei del della delle dello di dopo dove e ed era erano essere fa fino fra fu furono
        gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me mi mia mio molto ne negli nei nel nella nelle
        nello no noi non nostra nostro o ogni per perche piu po poi prima qual quale quali quando quanta quante quanti
        quanto quella quelle quelli quello questa queste questi questo qui se sei si sia siamo siete solo sono sopra sotto
        sta stata stati stato su sua sue sugli sui sul sulla suo suoi te ti tra tu tua tuo tutti tutto un una uno vi voi
    """,
    "portuguese": """
        a ao aos aquela aquele aqueles aquilo as ate com como cujo da das de dela dele deles depois do dos e ela elas ele
        eles em entre era eram essa essas esse esses esta estao estar estas estava estavam este estes estou eu foi foram
        ha isso isto ja la lhe lhes lo mais mas me mesmo meu meus minha muito na nao nas nem no nos nossa nosso num numa o
        onde os ou para pela pelas pelo pelos por porque qual quais quando quanta quantas quanto quantos que quem se seja
        sem ser seu seus sido so sobre sou sua suas tambem te tem tinha tinham toda todas todo todos tu tua um uma umas
        uns voce voces
    """,
    "dutch": """
        aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen
        geweest haar had hadden heb hebben heeft hem het hier hij hoe hoeveel hun ik in is ja je kan kon kunnen maar me
        meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen
        tot u uit uw van veel voor waar waarom wanneer want waren was wat welk welke werd werden wezen wie wij wil worden
        wordt ze zelf zich zij zijn zo zonder zou
    """,
    "swedish": """
        alla allt att av bara blev bli blir da dar de dem den denna deras dess det detta dig din ditt du efter eller en
        ett fran for ha hade han hans har hennes hon honom hur i icke ingen inte ja jag kan kunde man med mellan men mig
        min mitt mot mycket nagon nagot nar ni nu och om oss pa sa samma sedan sig sin sina sitt ska skulle som till under
        upp ut utan vad var vara varfor varit vem vi vid vilka vilken vilket
    """,
    "russian": """
        а без более больше будет будто бы был была были было быть в вам вас ваш весь во вот все всего всех всю вы где да
        даже два для до его ее ей ему если есть еще же за зачем здесь и из или им их к как какая какие каким каких какой
        какого какую кем когда кого ком кому которая которого которое которой котором которую которые который которых
        кто куда ли лишь между меня мне много может можно мой мы на над надо наш не него нее ней нет ни них но ну о об
        однако он она они оно от откуда очень по под после потому почему при про раз с сам свое свои свой своих своей себе
        себя сейчас сколько со так также такая такие такой там твой тебе тебя то тогда того тоже только том тот ту ты у уже
        хотя чего чей чем через что чтоб чтобы чье эта эти этим этих это этого этой этом этот эту я
    """,
    "arabic": """
        ابو اثناء اذ اذا اكثر الا التي الذي الذين الى ام اما ان انا انت انه انها او اي اين ايضا بعد بعض بل بها به بين تحت
        تكون تم ثم جدا حتى حول حيث حين خلال دون ذلك عليه عليها عن عند عندما على عدد غير في فيه فيها قبل قد قال كان كانت كل
        كم كما كيف لا لان لدى لقد لكن لم لن له لها ليس ما ماذا متى مثل مع من منذ منه منها نحو هذا هذه هل هم هما هنا هناك هو
        هي و وقد ولا ولم وهو وهي يكون يمكن
    """,
    "hindi": """
        अपना अपनी अपने अब इस इसका इसकी इसके इन इनका उन उनका उनकी उनके उस उसका उसकी उसके एक एव और कर करता करते करना करने
        कहा का काफी कि कितना कितनी कितने किया किस किसका किसकी किसके किसने किसी की कुछ के केवल को कोई कौन कौनसा क्या क्यो
        क्यों गई गए गया जब जहा जहां जा जाता जाती जाते जिस जिसका जिसकी जिसके जिसने जिन जो तक तब तो था थी थे दिया दो द्वारा
        नहीं ने पर पहले बहुत बाद भी में मे यदि यह यहां या ये रहा रही रहे लिए लेकिन वह वहां वाला वाली वाले वे व से हम हुआ हुई
        हुए है हैं हो होता होती होते होना होने
    """,
}

STOP_WORDS: dict[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in _LISTS.items()}

_LATIN = ("english", "german", "spanish", "french", "italian", "portuguese", "dutch", "swedish")


def guess_latin_language(words: Iterable[str], own: str) -> str:
    """Name the Latin-script language whose stop words are the most among these folded words; ``own`` wins a tie."""
    known = list(words)
    counts = {language: sum(word in STOP_WORDS[language] for word in known) for language in _LATIN}
    return max(_LATIN, key=lambda language: (counts[language], language == own)) if any(counts.values()) else own
